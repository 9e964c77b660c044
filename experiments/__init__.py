"""From a template to a report: everything around single runs.

`templates` renders scenarios, `sweeps` runs them, `measurements` tabulates the results. `claims` tests, `figures`
draws, `reporting` draws those of results, `comparing` compares agents. `studies` has a folder a study. `shipped` finds
templates, sweeps and studies; `listing` and `inventory` describe them.
"""

if __name__ != "roambus.experiments":
    raise ImportError("experiments is a part of roambus: import roambus.experiments")
