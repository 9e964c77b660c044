"""Sweeps on a Spark cluster: each run is a task, and everything else stays as it is on one machine.

shipment   what is sent along: our packages to Spark, the user's own files to the results folder
arrival    makes the packages importable on an executor, where nothing of ours need be installed
task       one run on an executor
job        the runs as one job of Spark, told as they end
crew       the whole, as `roambus.experiments.sweeps.runner` sees it
"""
