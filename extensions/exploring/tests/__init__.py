"""The explorer: its own counts are checked by hand, and what it finds is repeated."""
