"""Path losses between places, and variations of links around them."""
