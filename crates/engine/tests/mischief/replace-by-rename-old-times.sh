# expect: files replaced by rename with copies that have equal size, mode and mtime are left as they are
for f in src/a.txt src/d.txt run.sh tests/t2.sh; do
	cp -p "$f" "$f.new"
	n=$(wc -c < "$f")
	head -c "$n" /dev/zero | tr '\0' '#' > "$f.new"
	chmod --reference="$f" "$f.new"
	touch -r "$f" "$f.new"
	mv -f "$f.new" "$f"
done
