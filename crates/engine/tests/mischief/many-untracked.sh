# expect: thousands of untracked files in tracked, untracked and ignored folders are removed only in part
mkdir -p build many
i=0
while [ "$i" -lt 1700 ]; do
	i=$((i + 1))
	: > "src/u$i"
	: > "build/o$i.o"
	: > "many/m$i"
done
