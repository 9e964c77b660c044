"""Studies: what is run, measured, drawn and claimed to evaluate a paper or to compare protocols.

`study` defines a study, finds one by its name, and reads results with it. Each study has a folder: sweeps, templates,
metrics, claims, and the module `study` that puts them together.
"""
