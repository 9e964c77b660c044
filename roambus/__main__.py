"""`python -m roambus` runs the command `roambus` where the scripts' folder is not on the PATH.

With `-m` Python looks for modules in the working folder first. That folder can hold untrusted results, so it is dropped
before any other import.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]

    from roambus.command_line import main

    main()
