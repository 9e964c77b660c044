"""Agents compared with each other: any metric against any axis, with intervals and tests by seed.

`comparison` looks up agents and metrics by name, tests agents against each other, and writes tables, text and
picture. The package `roambus` gives the same to notebooks.
`observations` reads single deliveries from the traces: how long they took, and when they were.
"""
