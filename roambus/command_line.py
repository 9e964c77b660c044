"""The command line `roambus` lists the commands and turns errors into messages and exit codes.

The message of a `RoambusError` is printed without a traceback, unless `-v` asks for one. With `--json` stdout has one
JSON document, also of an error. Exit codes: 1 for failed or omitted runs, 2 for the user's mistake, 3 for the
simulator, 4 for an agent, 130 for Ctrl-C. Any other exception is a mistake in roambus and keeps its traceback.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import click

from roambus.bridge.system.code import COMMANDS, check_present, named
from roambus.bridge.system.errors import InterruptionError, RoambusError, UserError
from roambus.bridge.system.interrupts import NamedInterruption, termination_interrupts
from roambus.bridge.system.printed import escaped
from roambus.bridge.system.private_folder import remove_abandoned
from roambus.console.output import CommandOutput, with_options

MODULES = {
    **dict.fromkeys(("run", "trace"), "runs"),
    "sweep": "sweeps",
    **dict.fromkeys(("aggregate", "compare", "figures"), "results"),
    "reproduce": "studies",
    **dict.fromkeys(("list", "show"), "inventory"),
    "docs": "pages",
    **dict.fromkeys(("doctor", "new"), "installation"),
}
"""The core's modules in `roambus.commands`; extensions use entry points."""

FUNCTIONS = {"list": "list_entries"}
"""The commands whose functions cannot have their name."""

NEEDS_LITTLE = {"docs", "list"}
LEAST_MEMORY = 300_000 << 10
"""Bytes of address space in which the smallest run ends well; 10,000 KiB less fails."""


def main() -> None:
    """Run the command line; an explainable error gets one message and its exit code."""
    _open_closed_streams()
    _print_any_name()
    _escape_warnings()
    # OpenBLAS raises SIGINT where memory has no room for its threads; nothing here gains from them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    output = CommandOutput(owns_process=True)
    try:
        sys.exit(_run(output))
    except click.ClickException as error:
        output.as_json |= "--json" in sys.argv  # the mistake can stand before it
        if not output.as_json:
            error.show()
            sys.exit(error.exit_code)
        _fail(output, error.format_message(), error.exit_code)
    except RoambusError as error:
        _fail(output, str(error), error.exit_code)
    except OSError as error:
        _fail(output, _describe(error), UserError.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        interruption = error.__cause__ or error  # click makes an Abort of it
        message = str(interruption) if isinstance(interruption, NamedInterruption) else "interrupted"
        _fail(output, message, InterruptionError.exit_code)
    except Exception as error:
        if (expected := _expected(error)) is None:
            raise
        _fail(output, *expected)


def _escape_warnings() -> None:
    """A library's warning can quote a stranger's name."""
    usual = warnings.formatwarning
    warnings.formatwarning = lambda *about, **more: escaped(usual(*about, **more))


def _run(output: CommandOutput) -> int:
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `roambus` has it while modules are read
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with termination_interrupts():
        try:
            code = commands(prog_name="roambus", standalone_mode=False, obj=output)
        except SystemExit as ended:  # a command with an exit code of its own, such as that of failed runs
            code = int(ended.code or 0)
        else:
            if isinstance(code, int):  # help and version end so
                return code
            code = 0
    if output.as_json and not output.is_printed:
        output.print_document()
    return code


def _check_memory() -> None:
    """Raise RoambusError if memory may be too small for a run's imports (`ulimit -v`).

    Out of memory while a C library is imported, Python 3.11 loops endlessly, deaf to signals, or ends by SIGSEGV.
    """
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
        raise RoambusError(
            f"there is not enough memory: a process may have {allowed >> 10:,} KiB here (ulimit -v), "
            f"and the smallest run needs {LEAST_MEMORY >> 10:,}"
        )


def _expected(error: Exception) -> tuple[str, int] | None:
    if _is_interrupted(error):
        return "interrupted", InterruptionError.exit_code
    if _lacks_memory(error):
        return f"there is not enough memory ({_reason(error)})", RoambusError.exit_code
    return None


def _is_interrupted(error: BaseException) -> bool:
    """Return whether Ctrl-C caused it: during an import other errors are raised."""
    cause = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt) or (cause is not None and _is_interrupted(cause))


def _lacks_memory(error: Exception) -> bool:
    is_refused = isinstance(error, ImportError | SystemError) and any(text in str(error) for text in _REFUSED)
    return is_refused or isinstance(error, MemoryError)


_REFUSED = ("failed to map segment", "cannot allocate memory", "without setting an exception", "without exception set")
"""Messages of the loader, and of Python after silent memory failures in C code."""


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _open_closed_streams() -> None:
    """Let the null device replace streams that the shell closed (`>&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode)  # noqa: SIM115  # gets the lowest free number: its own
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _print_any_name() -> None:
    """Print file names that are not text, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")


def _fail(output: CommandOutput, message: str, code: int) -> None:
    whole, _, rest = message[:_LONGEST_MESSAGE].rpartition("\n")
    left = message.count("\n") - whole.count("\n")
    cut = f"{whole}\nand {left} lines more" if whole else f"{rest}..."
    shown = message if len(message) <= _LONGEST_MESSAGE else cut
    if output.is_verbose:
        traceback.print_exc()
    if output.as_json:
        with suppress(OSError):  # stdout may be the file that is full
            output.print_document(shown, code)
            sys.exit(code)
    click.echo(escaped(f"error: {shown}"), err=True)
    sys.exit(code)


_LONGEST_MESSAGE = 4000
"""In characters: a message can quote a line as long as its file."""


def _describe(error: OSError) -> str:
    problem = error.strerror or _reason(error)
    return f"{error.filename}: {problem}" if error.filename else problem


class Commands(click.Group):
    """Commands of the core and of installed packages, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's
        """Return the names of all commands."""
        return sorted({*MODULES, *named(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """Return the command of that name, if there is one."""
        if cmd_name not in self.commands and (found := _load(cmd_name)) is not None:
            # Else click would cut it off to fit on one line.
            found.short_help = " ".join((found.help or "").partition("\n\n")[0].split())
            self.add_command(with_options(found), cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command and its words; raise UserError for an option with one value that is given twice."""
        name, command, words = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            *_, given = command.make_parser(click.Context(command, ctx, name)).parse_args(list(words))
            for option in given:
                if isinstance(option, click.Option) and not option.multiple and given.count(option) > 1:
                    raise UserError(f"{option.opts[0]}: given twice")
        return name, command, words


def _load(name: str) -> click.Command | None:
    """Import a command; no other package can take a core command's name."""
    if name not in NEEDS_LITTLE:
        _check_memory()
    if name in MODULES:
        module = import_module(f"roambus.commands.{MODULES[name]}")
        core: click.Command = getattr(module, FUNCTIONS.get(name, name))
        return core
    if (point := named(COMMANDS).get(name)) is not None:
        return _load_brought(point)
    check_present(COMMANDS, name, f"the command {name}")
    return None


def _load_brought(point: EntryPoint) -> click.Command:
    problem = f"{point.value} is not a click.Command"
    try:
        found = point.load()
        if isinstance(found, click.Command):
            return found
    except Exception as error:
        problem = f"cannot import {point.value}: {error}"
    package = f" of package {point.dist.name}" if point.dist else ""

    def refuse() -> None:
        raise UserError(f"command {point.name}{package}: {problem}")

    return click.Command(point.name, callback=refuse, help=f"Is broken: {problem}.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="roambus")
def commands() -> None:
    """Runs publish/subscribe and ad hoc routing protocols, written in Python, on a realistic low-power radio.

    \b
    Begin with one run, and look at it:
      roambus run thesis --agent mft --set time_limit=30 --set publish_until=20
      roambus replay results/run
    Compare protocols over many runs:
      roambus sweep thesis --set config=C2 --set speed=2,8 --seeds 2 --out results/small
      roambus aggregate results/small
      roambus compare results/small
      roambus figures results/small
    Write a protocol of your own:
      roambus new agent rumour
    and see what is wrong with it:
      roambus vet rumour
      roambus explore scenario.txt

    `roambus COMMAND --help` explains a command and shows an example. `roambus list` lists agents, templates, sweeps,
    studies and metrics, and `roambus docs` the pages of the documentation; begin with `roambus docs tutorial`.

    \b
    For completion in your shell, add the line for it to its start file:
      eval "$(_ROAMBUS_COMPLETE=bash_source roambus)"
      eval "$(_ROAMBUS_COMPLETE=zsh_source roambus)"
      _ROAMBUS_COMPLETE=fish_source roambus | source
    """  # noqa: D301  # click wants the character itself
    remove_abandoned()


with_options(commands)
