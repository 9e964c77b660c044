"""The process of an examination: `python -m roambus.experiments.vetting.process`, with a job as JSON on its input.

It prints a line for each step, which is what was found in it, as JSON; what the agent prints is lost.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.guard import watch
from roambus.experiments.vetting.examination import Job, examine


def main() -> None:
    """Examines, and ends with the exit code 0 whatever was found."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # it stays open to the end
    asked = json.loads(sys.stdin.read())
    watch()
    try:
        for found in examine(Job(**{**asked, "folder": Path(asked["folder"])})):
            print(json.dumps({"findings": [asdict(one) for one in found]}), file=told, flush=True)  # to vetting
        print(json.dumps({"end": True}), file=told, flush=True)  # as above
    except UserError as error:
        print(json.dumps({"error": str(error)}), file=told, flush=True)  # as above


if __name__ == "__main__":
    main()
