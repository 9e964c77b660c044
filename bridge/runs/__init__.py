"""Complete runs: making and identifying them, and the files in their folders.

- `run`: makes a run and finds its state.
- `identity`: a planned run (`RunPlan`), and the key of a finished one.
- `log`: a run's log.
- `layout`: the results folder, and errors of writing it.
- `guard`: for agents that harm their run's process; the others read without it.
"""
