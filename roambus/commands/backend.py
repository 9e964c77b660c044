"""Makes the back-end that the options of a command ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roambus.bridge.backends.factory import BackendFactory


def make_factory(backend: str, deadline: float | None, batching: bool) -> BackendFactory:
    """Returns the maker of the back-end of that name; `deadline` (seconds) and `batching` matter to Castalia alone."""
    if backend == "radio":
        from roambus.bridge.backends.radio.factory import RadioFactory

        return RadioFactory()
    if backend == "ideal":
        from roambus.bridge.backends.ideal.factory import IdealFactory

        return IdealFactory()
    from roambus.bridge.backends.castalia.factory import CastaliaFactory

    return CastaliaFactory(deadline, batching)
