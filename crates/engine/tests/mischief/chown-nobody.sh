# expect: files and folders that belong to another user or group stay so, as owners are not compared
[ "$(id -u)" = 0 ] || exit 77
chown 65534 src/a.txt src || exit 77
chown :65534 README.md tests || exit 77
chown -h 65534:65534 link || exit 77
chown 65534:65534 . || exit 77
