"""Mobility: a module a model, and the paths of all nodes of a scenario (`paths`).

A model is a subclass of `model.Mobility`. It declares its manager's name and keys, says how the ini is read, and yields
its way-points; one line of `registry` makes it known. Models load no NumPy, since the command line lists their keys.
"""
