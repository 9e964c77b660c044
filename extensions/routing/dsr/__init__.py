"""DSR (RFC 4728): source routes, found on demand and cached.

Left out: flow state (section 3.5), and piggybacking of anything but errors on requests. The link layer acknowledges
(section 8.3.1), and neither the network layer nor a packet that is overheard.
"""

from roambus.extensions.routing.dsr.agent import Dsr

__all__ = ["Dsr"]
