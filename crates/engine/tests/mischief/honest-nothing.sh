# expect: (honest) nothing was done; nothing may be spoilt, and ideally nothing is rewritten but what TWO changes
:
