"""Programs that write result pages of this documentation from aggregated results of the thesis' sweeps.

`reproduction` writes docs/results/reproduction.md, `factorial` the tables of docs/results/open-choices.md, and `keys`
records which runs a page shows. Run them from the repository's root: `python -m docs.writers.reproduction`.
"""
