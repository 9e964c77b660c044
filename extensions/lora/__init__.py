"""LoRa: a radio, MACs, propagation and agents of networks in which nodes repeat each other's broadcasts.

`flooding` has the managed flooding of such networks, `contention` its waits, and `profile` the agents of roambus with
their times scaled to LoRa's frames.
"""

from roambus.extensions.lora.flooding import ManagedFlooding

__all__ = ["ManagedFlooding"]
