"""From a template to a report: everything around single runs.

`templates` renders scenarios, `sweeps` runs them, `measurements` tabulates the results. `claims` tests, `figures`
draws, `reporting` draws those of results, `comparing` compares agents. `studies` has the thesis. `inventory` lists all
agents, templates, sweeps, studies and metrics.
"""

if __name__ != "roambus.experiments":
    raise ImportError("experiments is a part of roambus: import roambus.experiments")
