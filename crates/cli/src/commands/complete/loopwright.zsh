#compdef loopwright
# Tab completion of loopwright for zsh. Everything is asked of the program itself.
_loopwright() {
    local line
    local -a found described
    found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z "${found[1]}" ]]; then
        _files
        return
    fi
    for line in "${found[@]}"; do
        described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe -V 'loopwright' described
}
if [[ "${funcstack[1]}" == "_loopwright" ]]; then
    _loopwright "$@"
else
    compdef _loopwright loopwright
fi
