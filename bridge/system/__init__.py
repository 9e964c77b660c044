"""What runs need of the machine: files, processes, limits, errors, and code found by name."""
