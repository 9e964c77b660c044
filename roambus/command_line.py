"""The command line: its commands, and what becomes of errors."""

from __future__ import annotations

import sys

import click

from roambus.bridge.errors import InterruptionError, RoambusError, UserError
from roambus.bridge.interrupts import termination_interrupts
from roambus.commands.castalia import castalia
from roambus.commands.compare import compare
from roambus.commands.export import export
from roambus.commands.information import agents, doctor
from roambus.commands.new import new
from roambus.commands.replay import play, replay
from roambus.commands.reproduce import reproduce
from roambus.commands.results import aggregate, figures
from roambus.commands.runs import render, rerun, run, serve
from roambus.commands.sweep import sweep
from roambus.commands.trace import trace


def main() -> None:
    """Runs the command line; a user's mistake, or a run that failed, gets one message and an exit code of its own."""
    try:
        with termination_interrupts():
            code = commands(prog_name="roambus", standalone_mode=False)
        sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except RoambusError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        _fail(_describe(error), UserError.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", InterruptionError.exit_code)


def _fail(message: str, code: int) -> None:
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def _describe(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="roambus")
def commands() -> None:
    """Publish/subscribe protocols in Python on a realistic low-power radio.

    Example: roambus reproduce thesis --quick --out results/thesis-quick
    """


for command in (
    agents,
    aggregate,
    castalia,
    compare,
    doctor,
    export,
    figures,
    new,
    play,
    render,
    replay,
    reproduce,
    rerun,
    run,
    serve,
    sweep,
    trace,
):
    commands.add_command(command)
