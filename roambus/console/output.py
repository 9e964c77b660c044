"""The output of a command: text for people, or with `--json` one JSON document for programs.

`answer` prints the result, `summary` a sentence about the whole, `remark` progress, and `detail` more with `-v`; `-q`
omits summaries and remarks. Results go to stdout, everything else to stderr. Problems of single runs end the command
with exit code 1 after the others.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any

import click

from roambus.bridge.system.printed import escaped

if TYPE_CHECKING:
    from rich.console import Console

    from roambus.experiments.sweeps.progress import Progress


EXIT_PROBLEMS = 1
"""Runs failed or were left out, or a check found something."""


@dataclass(slots=True)
class CommandOutput:
    """The running command's output mode, and its output so far."""

    as_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False
    document: Any = None
    """The JSON document: answers' keywords, or a whole given one."""
    problems: set[str] = field(default_factory=set)
    """Problems already reported, such as failed runs."""
    is_printed: bool = False
    """Whether the document is already printed."""
    started: float = field(default_factory=time.monotonic)
    owns_process: bool = False
    """Whether the command has its words from the process' own."""

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add to the document; a list extends an earlier one of its name."""
        if not fields:
            return
        self.document = {} if self.document is None else self.document
        for name, value in fields.items():
            known = self.document.get(name)
            self.document[name] = [*known, *value] if isinstance(known, list) else value

    def print_at_once(self) -> None:
        """Print the final document of a command that runs until Ctrl-C."""
        if self.as_json:
            self.print_document()
            self.is_printed = True

    def print_document(self, error: str | None = None, exit_code: int = 0) -> None:
        """Print the document, with an error beside earlier fields."""
        if error is not None:
            kept = self.document if isinstance(self.document, dict) else {}
            self.document = {**kept, "error": error, "exit_code": exit_code}
        click.echo(json.dumps(plain({} if self.document is None else self.document), indent=2))


def command_output() -> CommandOutput:
    """Return the running command's output, or text output without a command."""
    context = click.get_current_context(silent=True)
    return CommandOutput() if context is None else context.find_root().ensure_object(CommandOutput)


def answer(text: object = None, /, **fields: Any) -> None:
    """Print the command's result, also with `-q`; `fields` are for programs."""
    output = command_output()
    output.add(fields)
    if text is not None and not output.as_json:
        click.echo(escaped(text))


def answer_whole(text: str, document: Any) -> None:
    """Print the text for people; programs get only `document`."""
    output = command_output()
    output.document = document
    if not output.as_json:
        click.echo(escaped(text))


def summary(text: str, /, **fields: Any) -> None:
    """Print a sentence about the whole, omitted with `-q`; `fields` are for programs."""
    output = command_output()
    output.add(fields)
    if not (output.as_json or output.is_quiet):
        click.echo(escaped(text))


def report_problems(problems: Sequence[str]) -> None:
    """Print problems of single runs last, and end the command."""
    output = command_output()
    output.add({"problems": list(problems)})
    for problem in problems:
        if problem not in output.problems and not output.as_json:
            click.echo(escaped(f"  {problem}"), err=True)
    if problems:
        sys.exit(EXIT_PROBLEMS)


def remark(text: str) -> None:
    """Print progress on stderr, omitted with `-q`."""
    if not command_output().is_quiet:
        click.echo(escaped(text), err=True)


def detail(text: str) -> None:
    """Print on stderr with seconds since the start, with `-v` only."""
    output = command_output()
    if output.is_verbose:
        click.echo(f"[{time.monotonic() - output.started:7.2f} s] {escaped(text)}", err=True)


def console() -> Console:
    """Return Rich's console on stderr for progress, silent with `-q`."""
    from rich.console import Console

    return Console(stderr=True, quiet=command_output().is_quiet)


@contextmanager
def bar(text: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Show progress during the block; call the yielded function for each one done.

    Without a terminal, print a line every few seconds.
    """
    from rich.progress import Progress as Bar

    shown = console()
    if not shown.is_terminal:
        yield _lines(text, total)
        return
    with Bar(console=shown, transient=True) as found:
        task = found.add_task(text, total=total)
        yield lambda: found.advance(task)


def _lines(text: str, total: int | None) -> Callable[[], None]:
    done, printed = count(1), time.monotonic()

    def one_more() -> None:
        nonlocal printed
        number = next(done)
        if time.monotonic() > printed + _LINE_S:
            printed = time.monotonic()
            remark(f"{text}: {number}" if total is None else f"{text}: {number} of {total}")

    return one_more


_LINE_S = 5.0
"""Between two lines of progress."""


def progress() -> Progress:
    """Return a progress display; with `-v` each finished run has a line."""
    from roambus.experiments.sweeps.progress import Progress

    return Progress(console(), each=command_output().is_verbose)


def plain(value: Any) -> Any:  # noqa: PLR0911  # a kind of value a line
    """Return the value as JSON: paths and others become texts, non-finite numbers null."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): plain(element) for name, element in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(element) for element in value]
    if isinstance(value, Enum):
        return plain(value.value)
    if hasattr(value, "item"):  # a number of NumPy's
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)


# The options


def _note(name: str) -> Any:
    """Return a callback that records the option, before or after the command's name."""

    def keep(context: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            setattr(context.find_root().ensure_object(CommandOutput), name, True)

    return keep


def _option(words: list[str], attribute: str, text: str) -> click.Option:
    return click.Option(words, is_flag=True, is_eager=True, expose_value=False, callback=_note(attribute), help=text)


def with_options(command: click.Command) -> click.Command:
    """Return the command and its subcommands with the common options."""
    command.params += [
        _option(["--json"], "as_json", "Prints one JSON document instead of text, also for errors."),
        _option(["-q", "--quiet"], "is_quiet", "Shows no progress: prints only errors and the result."),
        _option(["-v", "--verbose"], "is_verbose", "Prints more: single runs, times, and the traceback of an error."),
    ]
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            with_options(subcommand)
    return command
