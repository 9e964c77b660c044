"""Figures, from a plan to a picture.

`figure` says what a figure is to show, finds its numbers in the measurements, and writes them in Markdown.
`drawing` draws it, in the formats, size and `style` that were asked for.
"""
