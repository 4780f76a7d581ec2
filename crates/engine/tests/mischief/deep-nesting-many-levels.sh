# expect: 3,000 levels of folders use up open files (one per level) or the stack of a recursive walk
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os
os.chdir("tests")
for i in range(3000):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").close()
P
