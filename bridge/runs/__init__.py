"""Complete runs: how one is made, how it is identified, and what it leaves in its folder.

- `run`: makes a run, and says what there is of one.
- `identity`: a run before it is made (`RunPlan`), and the key by which a finished run is known.
- `log`: what a run says of itself.
- `layout`: what lies where in a results folder, and what a user is told when a folder cannot be written.
- `guard`: for agents that do to the process of a run what agents may not; the others read without it.
"""
