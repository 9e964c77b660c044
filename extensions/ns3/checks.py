"""Checks ns-3 and our adapter for `roambus doctor`, which also builds the adapter.

The back-end is imported in the checks: what cannot be imported is a finding.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from roambus.bridge.backends.castalia.installation import find_modules, other_release
from roambus.bridge.system.errors import UserError
from roambus.doctor import Check, Result, Simulator, broken, check_built, missing, ok

BUILD = "run roambus doctor --build ns3"


def check_ns3() -> Result:
    """Check the package's headers."""
    from roambus.extensions.ns3.backend import find_ns3

    try:
        return ok(str(find_ns3()))
    except UserError as error:
        found, _, advice = str(error).partition(": ")
        return missing(found, advice)


def check_adapter() -> Result:
    """Check its build for this ns-3 from our wire.proto, and its libraries."""
    from roambus.extensions.ns3.backend import NS3_ROOT, PROGRAM, SIMULATOR, find_ns3, release_in

    program = find_modules().build / PROGRAM
    if not program.is_file():
        return missing(f"{program} is not built", BUILD)
    with suppress(UserError):  # where there is no ns-3, that is a finding of its own
        if wrong := other_release(program, SIMULATOR, NS3_ROOT, release_in(find_ns3())):
            return broken(wrong, BUILD)
    return check_built(program, BUILD)


def build_adapter() -> Path:
    """Build the adapter; return its program. Raise UserError, RoambusError."""
    from roambus.extensions.ns3.backend import build_adapter as build

    return build()


NS3 = Simulator(
    (Check("ns-3", check_ns3, "install the package ns3 again"),),
    Check("adapter for ns-3", check_adapter, BUILD),
    build_adapter,
)
