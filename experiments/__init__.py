"""From a template to a report: everything around single runs.

`templates` renders scenarios, `sweeps` makes their runs, and `measurements` holds the results as tables. `claims` tests
them, `figures` draws them, `reporting` writes reports and `comparing` compares agents. `studies` has a folder for each
study. `shipped` finds templates, sweeps and studies; `listing` and `inventory` describe them.
"""

if __name__ != "roambus.experiments":
    raise ImportError("experiments is a part of roambus: import roambus.experiments")
