[ -s prd.json ] || { echo "the plan is gone"; exit 1; }
