"""Whether a reading of the thesis exists under which its claims hold: a fractional factorial over the open choices.

python -m docs.writers.factorial design DIR                writes DIR/NN.toml, the sweep of each of the 32 readings
python -m docs.writers.factorial analyse DIR --out PAGES   reads results or kept runs; writes the tables
python -m docs.writers.factorial rank DIR --out PAGES      reads PAGES/rows.csv; writes DIR/top-NN.toml and expectations
python -m docs.writers.factorial sweeps DIR --out PAGES    writes DIR/NAME.toml of each reading with an expectation
python -m docs.writers.factorial again DIR --out PAGES     reads all that was run; writes DIR/next-NN.toml
python -m docs.writers.factorial confirm DIR --out PAGES   reads DIR/results of all readings with an expectation
python -m docs.writers.factorial page PAGES --out BOOK     writes the tables of BOOK/open-choices.md from PAGES

The modules follow the work:

- `design` has the choices and the sweeps, `quantities` the margins of the claims, `effects` the effects of the choices.
- `model` predicts margins of readings that were not run, and `ranking` expects a number of claims from them.
- `rounds` does so again with the readings that were run since.
- `sides` judges stricter and milder readings of sentences, and `published` the same for the published defaults.
- `kept` keeps the runs of each reading in PAGES/runs.
- `tables` writes the files, and `page` the tables of the page.

PAGES/expected.csv has the expectations that were written by hand, PAGES/ranked.csv and PAGES/ranked-again.csv those of
the model. All are there before the runs.
"""
