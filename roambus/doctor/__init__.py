"""`roambus doctor` looks at this machine and says what would run.

Each check looks at one thing and returns a `Result`: it is there, it is missing, or it is broken, with what was found
and what to do. `look` turns whatever a check raises into a result as well, so that the doctor itself never fails.
"""
