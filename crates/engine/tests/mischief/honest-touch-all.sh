# expect: (honest) only the times are new; texts must be checked or rewritten, and modes not spoilt
find . -path ./.git -prune -o -exec touch -h {} +
