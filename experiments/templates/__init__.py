"""Renders templates: OMNeT++ ini files with variables, filled in by Jinja.

`render` finds and renders templates, `variables` reads their declarations. Beside them lie the templates and sweeps
that belong to no study, and the parts that others include, whose names begin with an underscore.
"""
