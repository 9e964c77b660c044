"""Regions: the power, the duty cycle and the dwell time that the rules of a band allow.

Sources for Europe are ERC Recommendation 70-03, annex 1, and ETSI EN 300 220-2; for the USA FCC 47 CFR 15.247. The
names, dwell times and other powers are those of LoRaWAN Regional Parameters RP002-1.0.4. Europe limits the ERP,
which is 2.15 dB below the EIRP that is meant here. A radio's transmission power counts as EIRP: its antenna has no
gain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

WINDOW: SimTime = 3600 * SECOND
"""The duty cycle is a share of any hour."""
DIPOLE_DB = 2.15
"""An EIRP's advantage over the same ERP."""


@dataclass(frozen=True, slots=True)
class Region:
    """The limits of a band."""

    eirp_dbm: float = math.inf
    duty_permille: int = 1000
    """Share of any hour."""
    dwell: SimTime = 0
    """The longest frame; 0 means no limit."""
    dwell_below_khz: float = math.inf
    """Only narrower channels have the limit of the dwell time."""

    @property
    def airtime_in_window(self) -> SimTime:
        """The airtime that a node may use in any hour; 0 means no limit."""
        return 0 if self.duty_permille == 1000 else WINDOW * self.duty_permille // 1000


_MW_25, _MW_500, _MW_10 = 14 + DIPOLE_DB, 27 + DIPOLE_DB, 10 + DIPOLE_DB
_DWELL = 400 * MILLISECOND

NO_LIMITS = "none"
REGIONS: Mapping[str, Region] = {
    NO_LIMITS: Region(),
    "EU868-g": Region(_MW_25, 10),  # 865 to 868 MHz
    "EU868-g1": Region(_MW_25, 10),  # 868.0 to 868.6 MHz, where LoRaWAN has its three default channels
    "EU868-g2": Region(_MW_25, 1),  # 868.7 to 869.2 MHz
    "EU868-g3": Region(_MW_500, 100),  # 869.4 to 869.65 MHz, where European meshes are
    "EU868-g4": Region(_MW_25, 10),  # 869.7 to 870 MHz
    "EU433": Region(_MW_10, 100),  # 433.05 to 434.79 MHz
    "US915": Region(30, dwell=_DWELL, dwell_below_khz=500),  # 500 kHz is digital modulation, and does not hop
    "AU915": Region(30, dwell=_DWELL, dwell_below_khz=500),
    "AS923": Region(16, dwell=_DWELL),
    "IN865": Region(30),
    "KR920": Region(14),
}
"""By the names of the key."""
