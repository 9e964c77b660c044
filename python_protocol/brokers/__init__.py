"""What the protocols of the broker family share, which are those of the thesis and of the paper on caching.

Each of them is a broker and a client, which are two processes; `agent` puts them on a node and connects them by a tree
and by links.
"""
