"""Makes the back-end that the options of a command ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roambus.commands.telling import remark

if TYPE_CHECKING:
    from roambus.bridge.backends.castalia.endpoint import Transport
    from roambus.bridge.backends.factory import BackendFactory


def make_factory(
    backend: str,
    deadline: float | None = None,
    *,
    batching: bool = True,
    lookahead: bool = True,
    transport: Transport = "zeromq",
) -> BackendFactory:
    """Returns the maker of the back-end of that name; the other arguments matter to Castalia alone (docs/bridge.md).

    `deadline` is in seconds.
    """
    if backend == "radio":
        from roambus.bridge.backends.radio.factory import RadioFactory

        return RadioFactory()
    if backend == "ideal":
        from roambus.bridge.backends.ideal.factory import IdealFactory

        return IdealFactory()
    from roambus.bridge.backends.castalia.factory import CastaliaFactory

    return CastaliaFactory(deadline, batching, lookahead, transport)


def announce_compilation(factory: BackendFactory) -> None:
    """Says that the radio is about to be compiled, if it never was: then nothing else is seen for a while."""
    if factory.name != "radio":
        return
    from roambus.bridge.backends.radio.kernel import is_compiled

    if not is_compiled():
        remark("the radio is compiled, once after each installation; that takes some 20 s")
