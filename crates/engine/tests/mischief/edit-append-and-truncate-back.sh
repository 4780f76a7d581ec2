# expect: appended (O_APPEND) and cut-back files are judged by size alone; one of them has other text now
printf 'more\n' >> README.md
printf 'x' >> empty.txt
printf 'tail\n' >> src/e.txt
printf 'E\n' > src/e.txt
n=$(wc -c < README.md)
truncate -s "$((n - 5))" README.md || exit 77
