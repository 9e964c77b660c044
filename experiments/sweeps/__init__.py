"""Makes the runs of sweeps: reads a sweep, plans its runs, skips complete ones, and makes the rest.

`sweep` expands a sweep, `sweep_file` reads TOML, `selection` applies options, `request` keeps it with the results.
`runner` plans, `settings_check` refuses ineffective settings, and `processes` or `cluster` make each run by an attempt
(`attempts`).
"""
