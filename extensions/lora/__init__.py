"""LoRa: a radio, MACs and propagation of networks in which nodes repeat each other's broadcasts."""
