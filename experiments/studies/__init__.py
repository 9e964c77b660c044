"""Studies: the runs, metrics, figures and claims that evaluate a paper or compare protocols.

`study` defines, finds and reads studies. Each has a folder: sweeps, templates, metrics, claims, and the module `study`
that combines them.
"""
