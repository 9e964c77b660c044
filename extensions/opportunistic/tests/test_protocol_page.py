"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.opportunistic import Epidemic, Prophet, SprayAndWait
from tests.support.protocol_pages import ProtocolPageTests

HERE = Path(__file__).parent


class TestPage(
    ProtocolPageTests,
    page=HERE.parent / "page.md",
    tests=HERE,
    folders=(HERE.parent,),
    agents={"epidemic": Epidemic, "spray": SprayAndWait, "prophet": Prophet},
):
    """Epidemic routing, spray and wait, PRoPHET."""
