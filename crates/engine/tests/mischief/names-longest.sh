# expect: names of 255 bytes overflow when the program adds a suffix or moves them to a longer temporary name
n=$(printf '%255s' '' | tr ' ' 'n')
d=$(printf '%255s' '' | tr ' ' 'd')
: > "$n"
: > "src/$n"
mkdir "$d" "$d/$d"
: > "$d/$d/$n"
ln -s "$n" "$(printf '%255s' '' | tr ' ' 'l')"
