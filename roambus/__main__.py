"""`python -m roambus` is the command `roambus`, for whoever has not got the folder of scripts on the PATH."""

from roambus.command_line import main

if __name__ == "__main__":
    main()
