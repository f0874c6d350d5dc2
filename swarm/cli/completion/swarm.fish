# fish completion for swarm.

function __swarm_complete
	set -l given (commandline -opc)
	set -e given[1]
	# As it was typed: quotes are taken away, nothing is expanded.
	set -l token (commandline -ct)
	set -l word (string unescape -- "$token")
	or set word "$token"
	for line in (command swarm __complete -- $given "$word" 2>/dev/null)
		switch $line
			case \tfiles
				__fish_complete_path "$token"
			case \tfolders
				__fish_complete_directories "$token"
			case '*'
				printf '%s\n' $line
		end
	end
end

complete -c swarm -f -k -a '(__swarm_complete)'
