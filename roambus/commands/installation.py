"""What is installed: `roambus doctor` says what works, and `castalia` and `completion` prepare what is used with it."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError
from roambus.commands.output import answer, console, telling

VARIABLE = "_ROAMBUS_COMPLETE"
"""The environment variable by which the script of a shell asks; click makes it of the program's name."""


@click.command()
def doctor() -> None:
    """Says what is installed, what would run, and what to do.

    A thing that is missing or broken gets a line of advice, and each back-end a line that says whether it would run.
    A terminal shows what is looked at: the embedded radio is compiled when it is first used, which takes a while.
    The exit code is 0 if the default back-end would run, and 1 if it would not.

    Example: roambus doctor
    """
    try:
        from rich.console import Console

        from roambus.doctor import BACKENDS as LOOKED_AT
        from roambus.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus anew, with everything that it needs") from None
    with console().status("looking") as status:
        diagnosis = examine(lambda what: status.update(f"looking at {what}"))
    answer(findings=diagnosis.findings, backends={name: not diagnosis.in_the_way(name) for name in LOOKED_AT})
    if not telling().as_json:
        report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(BACKENDS[0])))


@click.group()
def castalia() -> None:
    """Prepares runs on real Castalia, which is the back-end castalia.

    Example: roambus castalia build
    """


@castalia.command()
def build() -> None:
    """Builds the modules by which Castalia hands its nodes over to agents, and prints where their library is.

    OMNeT++ and Castalia have to be built already, and the environment variables OMNETPP_ROOT and CASTALIA_ROOT have to
    name their folders, which are only read. A C++ compiler, make, libzmq and protobuf are needed; what is missing is
    named, with what to do about it. Compiling takes about a minute, and has to be done again only when roambus, OMNeT++
    or Castalia changes.

    The library goes to omnet/build in a checkout of roambus, and otherwise to your cache, which is ~/.cache unless
    XDG_CACHE_HOME names another folder. Runs find it in either.

    Example: roambus castalia build && roambus run thesis --agent mft --backend castalia
    """
    from roambus.bridge.backends.castalia.installation import build_modules, find_modules
    from roambus.doctor import look_at, needed_to_build, simulators

    lacking = [finding for finding in look_at([*simulators(), *needed_to_build()]) if not finding.is_ok]
    if lacking:
        raise UserError(f"the modules for Castalia cannot be built yet: {'; '.join(map(str, lacking))}")
    modules = find_modules()
    build_modules(modules)
    answer(modules.library, library=modules.library)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Prints the script by which SHELL completes commands and names.

    It completes commands, options, agents, templates, sweeps, studies, metrics, variables of a template and parameters
    of an agent. The line that a shell reads when it starts, in ~/.bashrc or ~/.zshrc, is

    \b
      eval "$(roambus completion bash)"
      eval "$(roambus completion zsh)"

    and for fish the script is a file, ~/.config/fish/completions/roambus.fish.

    Example: roambus completion bash
    """  # noqa: D301  # click wants the character itself
    kind = get_completion_class(shell)
    if kind is None:
        raise UserError(f"click knows no completion for {shell}: install click anew")
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "roambus", VARIABLE).source()
    answer(script, shell=shell, script=script)
