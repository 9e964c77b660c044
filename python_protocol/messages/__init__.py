"""Messages: typed fields, and all that follows from them.

| chapter   | holds                                                                       |
|-----------|-----------------------------------------------------------------------------|
| `message` | a message: a class with a tag and typed fields; the set of an agent's       |
| `fields`  | the types that fields can have: how each travels, and how it is shown       |
| `layout`  | how the fields of a class become bytes, and bytes become fields again       |
| `names`   | how a transcript writes messages: notations, and names of nodes and filters |
| `octets`  | the bytes that fields are written to and read from, and their shapes        |
"""
