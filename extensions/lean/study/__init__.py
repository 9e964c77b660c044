"""Where publish/subscribe is worth its tree: interest, rate and speed.

In the thesis' workload every subscriber wants everything, and filters decide nothing.
"""
