package risk

import (
	"slices"
	"strings"
	"unicode"

	"agentswarm/risk/argv"
)

// isReadVerb says that a word of a subcommand makes it a read: "list",
// "list-applications", "listGroups", "api:messages:list".
func isReadVerb(w argv.Word) bool {
	if !w.Known {
		return false
	}
	verbs := []string{"list", "ls", "get", "describe", "show", "view", "status", "check", "verify", "info", "history"}
	text := strings.ToLower(w.Value)
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		text = text[at+1:]
		return slices.Contains(verbs, text) || text == "fetch"
	}
	if hump := strings.IndexFunc(w.Value, unicode.IsUpper); hump > 0 && slices.Contains(verbs[:6], w.Value[:hump]) {
		return !strings.ContainsAny(text, "./=")
	}
	first, _, compound := strings.Cut(text, "-")
	if strings.ContainsAny(text, "./=") || compound && !slices.Contains(verbs[:6], first) {
		return false
	}
	return slices.Contains(verbs, first)
}

// readsFirst says that the first operand behind the subcommands is a word that
// reads, as in "gh ruleset list".
func readsFirst(c *call) bool {
	w, ok := c.first()
	return ok && isReadVerb(w) && c.line.Dashes != 0
}

// readsGroup says that the word behind a group of commands reads, and that no
// other word changes anything: "deploy" of "aws deploy list-applications".
func readsGroup(c *call) bool {
	operands := c.line.Operands
	at := slices.IndexFunc(operands, isReadVerb)
	if at < 1 || at > 3 {
		return false
	}
	for i, w := range operands {
		group := (i == 0 || i == at-1) && w.Value != "run" && w.Value != "invoke"
		if !group && isChangeVerb(w) || isDeleteVerb(w) {
			return false
		}
	}
	return true
}

// runsHere says that a client of a service starts its stand-in on this machine:
// "sam local invoke", "firebase emulators:start".
func runsHere(c *call) bool {
	if !slices.Contains([]string{"sam", "firebase", "gcloud", "supabase"}, c.inv.Program) {
		return false // elsewhere it is a host or a folder
	}
	w, ok := c.first()
	if !ok || !w.Known {
		return false
	}
	group, _, _ := strings.Cut(w.Value, ":")
	return slices.Contains([]string{"local", "emulator", "emulators"}, group)
}

// listsRemote reports whether the first operand makes a client of a store list
// or compare its contents: "rclone lsd remote:".
func listsRemote(c *call) bool {
	w, ok := c.first()
	return ok && w.Known && (isReadVerb(w) || slices.Contains([]string{
		"lsd", "lsl", "lsf", "lsjson", "la", "du", "ncdu", "size", "tree", "cat", "head", "stat", "hash", "hashsum", "md5sum", "sha1sum", "find", "diff", "cryptcheck", "about",
	}, w.Value))
}

// listsOwners says that the owners of a package are listed and not changed.
func listsOwners(c *call) bool {
	if len(c.line.Sub) == 0 || c.line.Sub[0] != "owner" || c.line.Unsure {
		return false
	}
	return !c.line.Has("--add", "--remove", "-a", "-r") &&
		(c.inv.Program == "gem" || c.inv.Program == "cargo" && c.line.Has("--list", "-l"))
}

// signalsOwnJobs says that kill is given jobs of its own shell.
func signalsOwnJobs(c *call) bool {
	if c.inv.Program != "kill" || len(c.line.Operands) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.line.Operands, func(w argv.Word) bool { return !w.Known || !strings.HasPrefix(w.Value, "%") })
}

// partedChanges says that parted is given a command that does more than print.
func partedChanges(c *call) bool {
	if c.line.Has("--list", "-l") && len(c.line.Operands) == 0 {
		return false
	}
	words := c.line.Operands[1:]
	if len(words) == 0 {
		return true // it asks for commands
	}
	return slices.ContainsFunc(words, func(w argv.Word) bool {
		return !w.Known || !slices.Contains([]string{
			"print", "p", "free", "list", "all", "devices", "unit", "help", "version", "quit", "select", "align-check", "minimal", "optimal",
			"s", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "%", "cyl", "chs", "compact",
		}, w.Value) && strings.Trim(w.Value, "0123456789") != ""
	})
}
