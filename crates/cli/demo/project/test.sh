# The project's own test: every script must at least run.
for script in greet.sh shout.sh fly.sh; do
  if [ -f "$script" ]; then
    sh "$script" > /dev/null || { echo "$script does not run"; exit 1; }
    echo "$script runs"
  fi
done
echo "ok"
