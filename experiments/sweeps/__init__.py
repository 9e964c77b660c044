"""Makes the runs of sweeps: reads the sweep, plans the runs, skips complete ones, and makes the rest.

`sweep` expands a sweep into points, `sweep_file` reads one from TOML, `narrowing` changes it by options, and `request`
keeps it with the results. `runner` plans, `effects` refuses settings without effect, and `processes` or `cluster` make
the runs, each by an attempt (`attempts`).
"""
