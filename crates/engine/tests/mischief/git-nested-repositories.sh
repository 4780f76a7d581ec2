# expect: nested repositories are spared by a plain git clean, and src/.git turns src into somebody else's repository
command -v git >/dev/null 2>&1 || exit 77
git init -q nested
( cd nested; echo x > f; git add f; git -c user.name=x -c user.email=x@example.invalid commit -q --no-gpg-sign -m x )
git init -q src/deep/er/inner
git init -q build/ignored
git init -q --bare vendor.git
git init -q src
git init -q tests
echo x > src/untracked-in-inner
