"""Options and output that all commands share, also those of extensions and outside packages: `options` and `output`."""
