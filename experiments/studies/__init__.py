"""Studies: what is run, measured, drawn and claimed to evaluate a paper or to compare protocols.

`study` is what a study consists of; it finds one by its name, and reads results together with the study that they are
of. Each study has a folder here, called like the study with underscores for hyphens: its sweeps (`*.toml`) and
templates (`*.ini.j2`), `metrics` that it adds, `claims`, and `study`, which plans its figures and puts everything
together.
"""
