"""Path losses of LoRa's distances."""
