"""Where publish/subscribe is worth its tree: how many want a notification, how many there are, how fast nodes move.

The thesis' workload, in which every subscriber wants everything, cannot tell: there filters decide nothing.
"""
