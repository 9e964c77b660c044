"""LoRa: the radio of today's long-range meshes, with its airtime, its MACs, its path loss and its flooding.

`radio` has the reception, `mac` listening and regions, `propagation` path losses. `flooding` has the managed flooding
of such meshes, `contention` its waits, and `profile` shipped agents with their times scaled to LoRa's frames.
"""

from roambus.extensions.lora.flooding import ManagedFlooding

__all__ = ["ManagedFlooding"]
