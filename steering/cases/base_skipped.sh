# Today's binary: a story is skipped after failing attempts; its dependent is blocked; one that fails only in the judge is too.
. "$(dirname "$0")/../lib.sh"
MAX_RETRIES=1 project_with alpha beta:alpha gamma; ctl alpha.mode bad; ctl gamma.judge fail; start; done_with alpha skipped
[ "$(attempts alpha)" = 2 ] || no "attempts: $(attempts alpha)"
never alpha; never gamma; is_state gamma skipped || no "gamma is $(state gamma)"
is_state beta blocked || no "beta is $(state beta)"
ok
