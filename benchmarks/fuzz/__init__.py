"""Feeds the host what no simulator should say: real conversations, mutated."""
