"""Provenance: results that can be cited, made again by strangers, and held against checklists.

`crate` packs results with code, environment and checksums as an RO-Crate, `metadata` writes what the crate says of
itself, `surroundings` what the results were made with, and `unpacked` reads a crate that somebody else may have made.
`audit` holds results against the items of `checklist`, by what `evidence` finds in them.
"""
