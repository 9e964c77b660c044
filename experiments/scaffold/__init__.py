"""`roambus new`: packages that work at once, to be made one's own.

`writer` checks the name of an agent and writes its package, from the templates in `package/`.
"""
