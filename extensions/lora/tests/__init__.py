"""Tests of LoRa."""
