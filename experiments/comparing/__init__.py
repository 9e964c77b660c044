"""Agents compared: any metric against any axis, with intervals and tests by seed.

`comparison` writes files and pictures, `selection` looks up names, `tables` holds numbers and tests, `text` and
`picture` show them. `observations` reads single deliveries.
"""
