"""The self-stabilising skip ring: convergence from corrupted states, and the paper's lemmas on legitimate ones.

`skip-ring-convergence` and `skip-ring-publications` start from corrupted states, the other sweeps from nothing:
`skip-ring-steady` is about legitimate states, `skip-ring-joins` about joins while the subscribers double,
`skip-ring-crashes` about crashes, `skip-ring-topics` about many topics. `rows` reads the trace, `metrics` compares
states with the definition of the ring, and `overhead`, `informing`, `joins` and `crashes` measure what else the paper
claims. `claims` and `further_claims` have its theorems and lemmas, and `study` plans the figures.
"""
