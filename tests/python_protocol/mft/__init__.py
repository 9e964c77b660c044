"""Tests of MFT-PubSub."""
