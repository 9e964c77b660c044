"""OLSR (RFC 3626), core functionality: link sensing, MPR flooding and selection, topology, routing table.

Left out: several interfaces (MID), gateways (HNA), link hysteresis, redundant topology, packets of several messages.
"""

from roambus.extensions.routing.olsr.agent import Olsr

__all__ = ["Olsr"]
