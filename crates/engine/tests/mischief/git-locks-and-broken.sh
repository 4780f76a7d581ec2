# expect: left-over lock files and a broken index or HEAD make every git command fail
: > .git/index.lock
: > .git/HEAD.lock
: > .git/config.lock
: > .git/shallow.lock
mkdir -p .git/refs/heads
: > .git/refs/heads/main.lock
echo garbage > .git/index
echo garbage > .git/HEAD
printf '[core\n' >> .git/config
printf 'Z\n' > src/a.txt
