"""The evaluation of the paper on caching for mobile clients: figures 4 and 5, and its claims.

Sweeps vary the absence, the rate, the cache size and the number of brokers; `caching-move` is the move of figure 5.
"""
