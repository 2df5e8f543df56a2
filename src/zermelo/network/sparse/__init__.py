"""The processor network: rows of a table added up, small tails, a policy of legal actions only.

`architecture` says what it looks like, `fixed_point` how its integers stand for numbers, `module`
trains it (the only file here that needs torch), `runtime` evaluates it in the core.
"""
