"""Claims and their evidence.

`rule` says by which statistical rule a claim holds or does not hold, and computes it for one quantity. `claim` has a
claim with its text, its reading and its verdict, and prints it. What is claimed, each study says itself.
"""
