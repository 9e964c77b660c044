"""Makes the runs of sweeps: reads the sweep, plans the runs, skips those that are complete, and makes the rest.

`sweep` is a sweep and its expansion into single runs; `sweep_file` reads one from TOML, and keeps it with the results.
`runner` plans the runs and has a crew make them: `processes` are of this machine, `cluster` is one of Spark.
`attempts` makes one run, in a private folder, and `progress` shows how far the sweep is.
`arrival` makes our package importable on the executors of a cluster.
"""
