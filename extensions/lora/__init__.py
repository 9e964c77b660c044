"""LoRa: the radio of today's long-range meshes, with its airtime, its MACs, its path loss and its flooding.

The reception is in `radio`, listening and regions in `mac`, path losses in `propagation`. The managed flooding of such
meshes is in `flooding`, and its waits in `contention`. Shipped agents with LoRa's times are in `profile`.
"""

from roambus.extensions.lora.flooding import ManagedFlooding
from roambus.extensions.lora.messages import MeshParameters, Packet

__all__ = ["ManagedFlooding", "MeshParameters", "Packet"]
