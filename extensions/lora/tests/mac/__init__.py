"""Tests of the MACs of LoRa."""
