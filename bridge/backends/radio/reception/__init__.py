"""Receptions: the airtime of frames, and the signals that a radio receives."""
