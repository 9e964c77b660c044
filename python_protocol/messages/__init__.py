"""Messages: typed fields, and all that follows from them.

| module     | holds                                                          |
|------------|----------------------------------------------------------------|
| `octets`   | bytes: writers, readers and shapes                             |
| `fields`   | the types of fields: their bytes, and their text in transcripts |
| `notation` | the text of a message in transcripts                           |
| `layout`   | the bytes of a class's fields                                  |
| `message`  | a message, and the set of an agent's messages                  |
"""
