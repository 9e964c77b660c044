"""What comes with roambus and what is installed beside it: agents, templates, sweeps, studies and metrics.

`listing` has a sentence for each, without importing it. `kinds` finds the things of a name, and `thing` is what is
known of one of them, as a text and as JSON.
"""
