# expect: mtimes in 2400, 1969 or 0 overflow or look "newer than the list", so edits hide behind them
printf 'F\n' > src/a.txt
printf 'F\n' > src/d.txt
printf 'F\n' > src/e.txt
touch -d '2400-01-01 00:00:00' src/a.txt README.md src
touch -d '1960-01-01 00:00:00' src/d.txt run.sh tests
touch -d '@0' src/e.txt .gitignore .
touch -h -d '2400-01-01 00:00:00' link
echo x > untracked; touch -d '@0' untracked
