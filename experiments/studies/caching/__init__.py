"""The evaluation of the paper on caching for mobile clients: its figures 4 and 5, and what its text claims.

`caching-absence`, `caching-rate` and `caching-size` vary how long clients are away, how much is published and how
large caches are; `caching-move` is the single move of figure 5. `metrics` computes the paper's quantities from
traces, `claims` reads its sentences, and `study` plans the figures.
"""
