"""LoRa: the radio of today's long-range meshes, with its airtime, its MACs, its path loss and its flooding."""
