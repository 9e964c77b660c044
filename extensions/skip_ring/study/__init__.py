"""The self-stabilising skip ring: convergence from corrupted states, and lemmas on legitimate ones."""
