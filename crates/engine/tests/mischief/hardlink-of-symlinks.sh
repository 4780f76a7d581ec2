# expect: symlinks with a second hard link outside are left because nobody looks at the link count of a symlink
ln -P link "$OUTSIDE/link-door" || exit 77
ln -P dirlink "$OUTSIDE/dirlink-door" || exit 77
ln -P dirlink another-dirlink || exit 77
