"""Templates of LoRa fields."""
