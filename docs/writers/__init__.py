"""Programs that write result pages of this documentation from aggregated results of the thesis' sweeps.

`reproduction` writes docs/results/reproduction.md with `explanations`; `open_choices` writes the tables of
docs/results/open-choices.md. Run them from the repository's root: `python -m docs.writers.reproduction`.
"""
