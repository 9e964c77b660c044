"""The LoRa radio: its airtime, its named modems, and the frames that it receives."""
