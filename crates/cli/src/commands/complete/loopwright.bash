# Tab completion of loopwright for bash. Everything is asked of the program itself.
_loopwright() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
# Where there is nothing to say, names of files are offered. Old versions cannot leave the order as it is.
complete -o default -o nosort -F _loopwright loopwright 2>/dev/null ||
    complete -o default -F _loopwright loopwright
