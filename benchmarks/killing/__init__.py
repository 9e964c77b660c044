"""Commands that are hit at random moments, who of their processes can be hit, and what must be true afterwards."""
