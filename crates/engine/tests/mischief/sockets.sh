# expect: sockets can't be opened (ENXIO) and are not counted as files, so they stay
command -v python3 >/dev/null 2>&1 || exit 77
rm README.md src/b.txt
python3 - <<'P'
import os, socket
def mk(d, n):
    here = os.open(".", os.O_RDONLY); os.chdir(d)
    socket.socket(socket.AF_UNIX).bind(n)
    os.fchdir(here); os.close(here)
mk(".", "README.md"); mk("src", "b.txt"); mk("src", "new.txt"); mk(".", "untracked.sock"); mk("src/deep/er", "s")
P
