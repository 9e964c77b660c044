"""Agents that misbehave, each with what is promised of it: `values`, `messages`, `processes` and `chance` list them."""
