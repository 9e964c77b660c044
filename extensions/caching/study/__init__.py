"""The evaluation of the paper on caching for mobile clients: figures 4 and 5, and its claims.

Sweeps vary absence, rate, cache size and brokers; `caching-move` is figure 5.
"""
