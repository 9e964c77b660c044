"""first_approach."""
