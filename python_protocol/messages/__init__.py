"""Messages: typed fields, and all that follows from them.

| module     | what it is                                                             |
|------------|------------------------------------------------------------------------|
| `message`  | a message: a class with a tag and typed fields; the set of an agent's   |
| `fields`   | the types that fields can have: how each travels, and how it is shown   |
| `layout`   | how the fields of a class become bytes, and bytes become fields again   |
| `notation` | how a transcript writes the fields of a message                         |
| `names`    | how a transcript calls nodes, filters and notifications                 |
| `shapes`   | what the bytes look like, as data for programs in other languages      |
| `bytes`    | bytes in network byte order, which fields are written to and read from  |
"""
