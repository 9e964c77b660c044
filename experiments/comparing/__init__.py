"""Agents compared: any metric against any axis, with intervals and tests by seed.

`comparison` writes files and pictures, `selection` looks up names, and `tables` holds numbers, tests and their text.
`loading` reads the runs.
"""
