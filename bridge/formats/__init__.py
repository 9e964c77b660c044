"""Files from others: inis, movements, contacts, recordings of links, temporal models."""
