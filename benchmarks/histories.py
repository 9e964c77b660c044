"""Random histories, counted: what the searches for histories that go wrong have in common."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NoReturn

import click
from rich.progress import track

from roambus.bridge.errors import UserError
from roambus.commands.options import pairs

RUNS = click.option("--runs", default=1000, show_default=True, help="Random histories to carry out.")
SEED = click.option("--seed", default=0, show_default=True, help="Of the first history; each has the next one.")


def _read(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    try:
        return pairs("--param", texts)
    except UserError as error:
        raise click.UsageError(str(error)) from None


PARAMETERS = click.option(
    "--param", "parameters", multiple=True, callback=_read, metavar="NAME=VALUE", help="A parameter of the agent."
)
"""Its values come by name."""


def count(runs: int, seed: int, check: Callable[[Random], Iterable[str]]) -> NoReturn:
    """Carries histories out, prints how many had each fault that `check` names, and exits with 1 if any had one."""
    failed = Counter[str]()
    for one in track(range(seed, seed + runs), description="histories", disable=not sys.stderr.isatty()):
        found = list(check(Random(one)))
        failed.update(found)
        if found:
            print(f"seed {one}: {', '.join(found)}", file=sys.stderr)
    print(f"{runs} histories: {', '.join(f'{number} {name}' for name, number in failed.items()) or 'nothing wrong'}")
    sys.exit(bool(failed))
