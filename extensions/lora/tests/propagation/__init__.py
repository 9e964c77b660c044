"""Tests of the path losses of LoRa."""
