"""Agents compared with each other: any metric against any axis, with intervals and tests by seed.

`comparison` writes files and pictures, `selection` looks up names, `tables` holds the numbers and tests, and `text` and
`picture` show them. `observations` reads single deliveries from the traces.
"""
