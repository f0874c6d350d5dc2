#compdef swarm
# zsh completion for swarm.

_swarm() {
	local tab=$'\t' line name note shell=
	local -a given names shown parts partsShown
	local -i i
	# (Q) takes quotes away and expands nothing.
	for ((i = 2; i < CURRENT; i++)); do
		given+=("${(Q)words[i]}")
	done
	given+=("${(Q)PREFIX}")
	while IFS= read -r line; do
		name=${line%%$tab*} note=${line#*$tab}
		if [[ -z $name ]]; then
			shell=$note
		elif [[ $name == */ ]]; then
			parts+=("$name") partsShown+=("$name${note:+  -- $note}")
		else
			names+=("$name") shown+=("$name${note:+  -- $note}")
		fi
	done <<<"$(command swarm __complete -- "${given[@]}" 2>/dev/null)"

	# compadd quotes what it inserts.
	if ((${#names})); then
		compadd -l -V swarm -d shown -a names
	fi
	if ((${#parts})); then
		compadd -l -V swarmparts -S '' -d partsShown -a parts
	fi
	case $shell in
	files)
		compset -P '--*='
		_files
		;;
	folders)
		compset -P '--*='
		_files -/
		;;
	esac
}

if [[ ${funcstack[1]-} == _swarm ]]; then
	_swarm "$@" # autoloaded from a folder of $fpath
else
	compdef _swarm swarm
fi
