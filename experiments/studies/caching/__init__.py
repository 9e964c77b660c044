"""The evaluation of the paper on caching for mobile clients: its figures 4 and 5, and what its text claims.

`caching-absence`, `caching-rate`, `caching-size` and `caching-brokers` vary how long clients are away, how much is
published, how large caches are and how many brokers there are; `caching-move` is the single move of figure 5. `metrics`
computes the paper's quantities from traces, `claims` has its sentences with a reading each, and `study` plans the
figures.
"""
