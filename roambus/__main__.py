"""`python -m roambus` does what the command `roambus` does, where the folder of scripts is not on the PATH."""

from roambus.command_line import main

if __name__ == "__main__":
    main()
