"""roambus beside other simulators, and in larger networks: `python -m benchmarks.peers`."""
