"""Makes the runs of sweeps: reads what is asked for, plans the runs, skips those that are complete, and makes the rest.

`sweep` is a sweep and its expansion into single runs, `sweep_file` reads one from TOML, and `description` keeps in the
results what was asked for. `runner` plans the runs and has a crew make them: `workers` are processes of this machine,
`cluster` the executors of a Spark cluster. `attempts` makes one run, in the private folder that `workspace` gives and
takes away. `progress` shows how far a sweep is, by the work that is `expected` of each run. `job_array` writes a sweep
as a job array of SLURM, and `published` has runs published that are made in a mirror of an object store.
"""
