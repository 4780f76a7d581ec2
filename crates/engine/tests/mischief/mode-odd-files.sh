# expect: git knows only the x bit, so 0666, 0600, setuid and group-only x stay
chmod 0666 src/a.txt
chmod 0600 src/d.txt
chmod 0640 .gitignore
chmod 0444 src/e.txt
chmod 4755 tests/t2.sh
chmod 2644 README.md
chmod 1644 'with space/ü.txt'
chmod 0711 run.sh
chmod 0654 src/b.txt
chmod 0777 tests/t1.sh
