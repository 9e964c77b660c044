"""The parts of `benchmarks.mutation_check`."""
