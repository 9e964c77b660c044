"""A page that looks at a recorded testbed: map of links, delivery over strength, change over time, and gaps.

`numbers` makes of a recording what is shown, `layout` guesses where nodes are, `pictures` draws, `page` puts the page
together.
"""
