"""Figures, from a plan to a picture.

`figure` says what a figure is to show, finds its numbers in the measurements, and writes them in Markdown.
`drawing` draws it, in the chosen formats, size and `style`.
"""
