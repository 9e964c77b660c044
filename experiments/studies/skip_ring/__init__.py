"""The self-stabilising skip ring: convergence from corrupted states, and the paper's lemmas on legitimate ones.

`skip-ring-convergence` and `skip-ring-publications` start from corrupted states, the other sweeps from nothing:
`skip-ring-steady` is about legitimate states, `skip-ring-joins` about joins while the subscribers double,
`skip-ring-crashes` about crashes, `skip-ring-topics` about many topics. `metrics` compares states with the definition
of the ring, and `measurements` has what becomes of it: joins, crashes, and publications that only one has. `claims` has
the paper's theorems and lemmas, and `study` plans the figures.
"""
