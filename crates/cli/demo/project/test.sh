# The project's own test runner: every file in tests/ is one test. It speaks TAP, so that results are read test by test.
number=0
code=0
for test in tests/*.sh; do
  number=$((number + 1))
  name=$(basename "$test" .sh)
  if said=$(sh "$test" 2>&1); then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    echo "# $said"
    code=1
  fi
done
echo "1..$number"
exit $code
