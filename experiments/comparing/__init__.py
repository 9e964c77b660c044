"""Agents compared with each other: any metric against any axis, with intervals and tests by seed.

`loading` reads the runs of a sweep, `choice` finds what was asked for by its names, `pairs` tests agents against each
other, `tables` and `text` have the numbers, `pictures` draws, and `comparison` puts them together for
`roambus compare`. The package `roambus` gives the same to notebooks. `observations` reads single deliveries from the
traces, and `curves` draws how long they took, and when they were.
"""
