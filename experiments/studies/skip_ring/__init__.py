"""The self-stabilising skip ring: convergence from corrupted states, and the paper's lemmas on legitimate ones.

`skip-ring-convergence` starts from corrupted states, `skip-ring-steady` from legitimate ones. `metrics` compares states
with the definition of the ring, `claims` reads the theorems and lemmas, and `study` plans the figures.
"""
