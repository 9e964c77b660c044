"""`roambus castalia` prepares what runs on real Castalia need."""

from __future__ import annotations

import click

from roambus.bridge.errors import UserError
from roambus.commands.telling import answer


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
    from roambus.bridge.backends.castalia.modules import build_modules, find_modules
    from roambus.doctor.castalia import needed_to_build, simulators

    lacking = [finding for finding in [*simulators(), *needed_to_build()] if not finding.is_ok]
    if lacking:
        raise UserError(f"the modules for Castalia cannot be built yet: {'; '.join(map(str, lacking))}")
    modules = find_modules()
    build_modules(modules)
    answer(modules.library, library=modules.library)
