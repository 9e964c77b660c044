"""Provenance: results that others can cite and repeat.

`crate` packs results with code, environment and checksums as an RO-Crate. `metadata` writes what the crate says of
itself, and what the results were made with. `roambus.experiments.unpacked_crate` reads one.
"""
