"""The study of ferries between islands: templates, sweeps, metrics and claims."""
