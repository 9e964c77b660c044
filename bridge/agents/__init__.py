"""How the class of an agent is found, and seen to be fit for a run.

`registry` finds it by the name that a user gives, `imports` imports what is a module or a file of the user's, and
`checks` refuses a class whose parameters or messages could not be used.
"""
