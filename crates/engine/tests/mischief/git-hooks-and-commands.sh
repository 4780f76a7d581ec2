# expect: hooks, fsmonitor, pager, ssh or credential commands of the agent's repository are run by the program
mkdir -p .git/hooks "$OUTSIDE/hooks"
for h in post-checkout post-index-change reference-transaction pre-auto-gc post-merge post-rewrite pre-commit fsmonitor-watchman; do
	printf '#!/bin/sh\ntouch "%s/pwned-by-%s"\n' "$OUTSIDE" "$h" > ".git/hooks/$h"
	chmod 755 ".git/hooks/$h"
done
cp .git/hooks/post-checkout "$OUTSIDE/hooks/"
cat >> .git/config <<C
[core]
	fsmonitor = "touch '$OUTSIDE/pwned-by-fsmonitor' #"
	sshCommand = "touch '$OUTSIDE/pwned-by-ssh' #"
	pager = "touch '$OUTSIDE/pwned-by-pager'; cat"
	alternateRefsCommand = "touch '$OUTSIDE/pwned-by-refs' #"
[uploadpack]
	packObjectsHook = "touch '$OUTSIDE/pwned-by-pack' #"
[include]
	path = $OUTSIDE/more-config
C
printf '[gpg]\n\tprogram = %s\n' "$OUTSIDE/hooks/post-checkout" > "$OUTSIDE/more-config"
printf 'Z\n' > src/a.txt
