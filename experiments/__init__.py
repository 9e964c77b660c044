"""Templates, sweeps, their runner, figures and claims."""
