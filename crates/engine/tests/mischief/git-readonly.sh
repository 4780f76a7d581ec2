# expect: a read-only .git can't be removed or renewed by an ordinary user
mkdir -p .git/locked/in; echo x > .git/locked/in/f
chmod -R a-w .git
chmod 000 .git/locked/in .git/locked
chmod 0555 .git
