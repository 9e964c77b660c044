"""Provenance: results that others can cite and repeat.

`crate` packs results with code, environment and checksums as an RO-Crate; `metadata` describes them.
`roambus.experiments.verification` reads one.
"""
