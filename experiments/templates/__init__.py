"""Renders templates: OMNeT++ ini files with variables, filled in by Jinja.

`render` finds and renders them, and `bounds` keeps what they compute within bounds. Beside them lie the templates and
sweeps that belong to no study, and the parts that all templates include, whose names begin with an underscore; a
study's own templates lie in its folder.
"""
