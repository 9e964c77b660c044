"""Figures, from a plan to a picture.

`figure` plans a figure, finds its numbers, and writes them in Markdown. `drawing` draws it in the chosen formats, size
and `style`.
"""
