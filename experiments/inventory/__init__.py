"""What comes with roambus and what is installed beside it: agents, templates, sweeps, studies and metrics.

`kinds` finds the things of each kind, and `thing` is what is known of one of them, as a text and as JSON.
"""
