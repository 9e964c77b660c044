"""Tries what is promised where something goes wrong.

python -m benchmarks.trials KIND [--trials N] [--seed S] [--subject NAME ...] [--harm NAME ...]
python -m benchmarks.trials KIND --help

The report has a row for each subject and harm, and before it whatever was not as promised. The exit code is 0, 1 if a
promise was broken, or 2 for a user's error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.trials import files, kills, strangers
from benchmarks.trials.harness import Chapter
from benchmarks.trials.harness import main as run
from roambus.bridge.system.errors import RoambusError

CHAPTERS = {
    "files": (files.CHAPTER, files.__doc__),
    "kills": (kills.CHAPTER, kills.__doc__),
    "strangers": (strangers.CHAPTER, strangers.__doc__),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    asked = vars(_parser().parse_args(arguments))
    kind = asked.pop("kind")
    chapter, _ = CHAPTERS[kind]
    settings = {name: asked.pop(name) for name in chapter.settings}
    try:
        return run(chapter, settings=settings, **asked)
    except (RoambusError, OSError) as error:
        print(f"trials {kind}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trials", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for name, (chapter, text) in CHAPTERS.items():
        command = kinds.add_parser(
            name,
            help=(text or "").partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_options(command, chapter)
    return parser


def _add_options(parser: argparse.ArgumentParser, chapter: Chapter) -> None:
    number = f"{chapter.trials:,}" if chapter.trials else "all"
    parser.add_argument("--trials", type=int, default=chapter.trials, help=f"of each subject (default: {number})")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default: 0)")
    for option, names in (("subject", chapter.subjects), ("harm", chapter.harms)):
        usual = [name for name in names if name not in chapter.on_request]
        left = f", but for {', '.join(sorted(set(names) - set(usual)))}" if len(usual) < len(names) else ""
        parser.add_argument(
            f"--{option}", dest=f"{option}s", nargs="+", choices=names, default=usual, metavar="NAME",
            help=f"of {', '.join(names)} (default: all{left})",
        )  # fmt: skip
    for name, value in chapter.settings.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"(default: {value})")


if __name__ == "__main__":
    sys.exit(main())
