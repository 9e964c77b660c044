"""What the core does not need: a folder an extension, with its code, entry points, page and tests."""
