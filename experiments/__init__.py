"""From a template to a report: everything around single runs.

`templates` renders scenarios, for which `random_scenarios` and the studies draw what is random, and `sweeps` makes the
runs of a sweep. What came out, `measurements` holds as tables; `evidence` tests claims against them and `figures` draws
them. `studies` has a folder for each study, which puts sweeps, metrics, figures and claims together. `reporting` writes
the figures and the report of results, `comparing` compares agents, `export` writes results for other programs, and
`viewer` shows a run as a film. `scaffold` writes the package of a new agent. Three modules serve several rooms:
`shipped` finds the templates, sweeps and studies that come with roambus, and `page_policy` names what our pages may
run.
"""

if __name__ != "roambus.experiments":
    raise ImportError("experiments is a part of roambus: import roambus.experiments")
