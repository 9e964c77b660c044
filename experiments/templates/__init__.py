"""Renders OMNeT++ ini templates with Jinja.

`render` finds and renders them, `variables` reads their declarations. Here lie the templates and sweeps outside of
studies; included parts begin with an underscore.
"""
