"""Provenance: results that others can cite and repeat.

`verification` makes a sample of runs again. `crate` packs results with code, environment and checksums as an RO-Crate;
`metadata` describes them, and `unpacked` reads a crate.
"""
