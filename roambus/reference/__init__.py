"""The pages of the documentation, with the tables that the code declares filled in.

| module     | what it is                                                                      |
|------------|---------------------------------------------------------------------------------|
| `pages`    | finds the pages, and fills each `<!-- insert NAME -->` in them                  |
| `tables`   | parameters, messages, templates, metrics, commands, public names and modules    |
| `ini_keys` | the keys of the ini, and how far the embedded radio follows Castalia's          |
"""
