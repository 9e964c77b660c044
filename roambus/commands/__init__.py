"""The commands of `roambus`. Each imports what is heavy when it runs, so that help comes at once."""
