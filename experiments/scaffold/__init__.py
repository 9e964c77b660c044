"""`roambus new`: packages that work at once, to be made one's own.

`package/` holds the templates of an agent's package: each file with its path, in which PACKAGE stands for the package's
name. `names` says what an agent can be called, and `writer` writes the package.
"""
