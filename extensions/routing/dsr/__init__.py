"""DSR (RFC 4728): source routes, found on demand and cached.

Left out: flow state (section 3.5), network-layer and passive acknowledgements (the link layer acknowledges, section
8.3.1), and piggybacking of anything but errors on requests.
"""

from roambus.extensions.routing.dsr.agent import Dsr

__all__ = ["Dsr"]
