# bash completion for swarm; it works with bash 3.2 and later.
# shellcheck shell=bash

_swarm() {
	COMPREPLY=()
	local words=() word blanks rest='' i
	local last='' # the last of the pieces that the word at the cursor has
	# Without the line as it was typed, the words are as bash split them.
	if [[ ${COMP_LINE-} == "${COMP_WORDS[0]}"* ]]; then
		rest=${COMP_LINE:0:${COMP_POINT:-0}}
	fi
	local typed=$rest
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]-}
		last=$word blanks=
		if [[ -n $typed ]]; then
			blanks=${rest%%[![:space:]]*}
			rest=${rest#"$blanks"}
			if ((i == COMP_CWORD)); then
				word=$rest last=$rest # up to the cursor
			fi
			rest=${rest#"$word"}
		fi
		# bash splits words at = and : too, with no blank between the parts.
		if ((i > 0)) && [[ -n $typed && -z $blanks ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
		fi
	done
	if [[ $last == [=:] ]]; then
		last=
	fi
	local before=${words[${#words[@]} - 1]} # the parts that bash keeps
	before=${before%"$last"}

	local tab=$'\t' line name note shown=() shell=
	while IFS= read -r line; do
		name=${line%%"$tab"*} note=${line#*"$tab"}
		if [[ -z $name ]]; then
			shell=$note
			continue
		fi
		# What the line holds is text from files: it is quoted, never expanded.
		printf -v name %q "$name"
		if [[ $name == "$before"* ]]; then
			COMPREPLY+=("${name#"$before"}")
			shown+=("${name#"$before"}${note:+  ($note)}")
		fi
	done <<<"$(command swarm __complete bash -- "${words[@]:1}" 2>/dev/null)"

	if [[ ${COMP_TYPE-} == 63 ]] && ((${#COMPREPLY[@]} > 1)); then
		COMPREPLY=("${shown[@]}") # only listed, not inserted
	fi
	if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then
		compopt -o nospace 2>/dev/null # more of the word follows
	fi
	case $shell in
	files) compopt -o default 2>/dev/null ;;
	folders) compopt -o plusdirs 2>/dev/null ;;
	esac
	return 0
}

if ! complete -o nosort -F _swarm swarm 2>/dev/null; then
	complete -o default -F _swarm swarm # before bash 4.4
fi
