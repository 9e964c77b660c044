"""`python -m roambus` does what the command `roambus` does, where the folder of scripts is not on the PATH.

Python looks for modules in the working folder first if it is started with `-m`. That folder can be one of results that
somebody else made, so it is left out before anything else is imported, as it is for the command `roambus`.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]

    from roambus.command_line import main

    main()
