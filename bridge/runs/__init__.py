"""Complete runs: making and identifying them, and the files in their folders.

- `run`: makes a run and finds its state.
- `identity`: a planned run (`RunPlan`) and its key.
- `log`: a run's log.
- `layout`: the results folder, and errors of writing it.
- `guard`: agents that harm their run's process.
"""
