# expect: a path longer than PATH_MAX can't be lstat-ed or removed by its full name (ENAMETOOLONG), and stays
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os
top = os.open(".", os.O_RDONLY)
for start in (".", "src/deep/er", "build"):
    os.fchdir(top)
    os.makedirs(start, exist_ok=True)
    os.chdir(start)
    for i in range(30):
        n = "p" * 200
        os.mkdir(n); os.chdir(n)
    open("bottom", "w").close()
    os.symlink("..", "up")
P
