"""The documentation, and the programs that write pages of it from results."""
