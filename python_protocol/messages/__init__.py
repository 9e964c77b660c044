"""Messages: typed fields (`fields`), and all that follows from them.

`octets` has bytes, `fields` also the notation of transcripts, `layout` the bytes of a class's fields, `message`
messages and an agent's set of them.
"""
