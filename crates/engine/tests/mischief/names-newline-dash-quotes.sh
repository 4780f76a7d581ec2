# expect: names with newline, dash, tab, quotes, glob or pathspec signs break line-wise lists and command lines, and stay
nl='
'
tab=$(printf '\t')
mkdir -p -- -rf "a${nl}b" 'src/**' ':(top)' '~'
for n in "x${nl}README.md" "src${nl}" "README.md${nl}" "tab${tab}name" 'q"uote' "it's" 'back\slash' 'back\n' '*' '?' '[a]' \
	'$(touch pwned)' '`id`' '-n' '--force' '--' '-' ' lead' 'trail ' ' ' '...' '#c' '!x' ':!src' '%s' "cr$(printf '\r')x"
do
	echo x > "./$n"
	echo x > "src/$n"
done
echo x > "./-rf/f"
echo x > "a${nl}b/c${nl}d"
echo x > ':(top)/x'
