# expect: any git command run in here reads .gitignore, .gitattributes or .git/config from a FIFO and hangs for ever
rm -f .gitignore .git/info/exclude .git/HEAD .git/config .git/index
mkdir -p .git/info .git/hooks
mkfifo .gitignore .gitattributes .gitmodules src/.gitignore .git/info/exclude .git/info/attributes
mkfifo .git/HEAD .git/config .git/index .git/index.lock
