package risk

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// isURLAway says that a word is the URL of another machine, or may be.
func isURLAway(w argv.Word) bool {
	return isUnknown(w) || strings.HasPrefix(w.Value, "^/") || strings.Contains(w.Value, "://") && isRemotePath(w)
}

// isOVSDelete says that a word is a command of Open vSwitch that deletes.
func isOVSDelete(w argv.Word) bool {
	return isUnknown(w) || slices.ContainsFunc([]string{"del-", "clear", "remove", "destroy", "emer-reset", "ls-del", "lr-del", "lsp-del", "acl-del"}, func(begins string) bool {
		return strings.HasPrefix(w.Value, begins)
	})
}

// isTmuxKill says that a word is a command of tmux that ends programs. tmux
// takes any beginning that is not ambiguous.
func isTmuxKill(w argv.Word) bool {
	return w.Known && len(w.Value) > 4 && slices.ContainsFunc([]string{"kill-server", "kill-session", "kill-pane", "kill-window"}, func(full string) bool {
		return strings.HasPrefix(full, w.Value)
	}) || slices.Contains([]string{"killp", "killw"}, w.Value)
}

// isPinned says that a word asks for a package in a version.
func isPinned(w argv.Word) bool {
	at := strings.IndexAny(w.Value, "=<~@")
	return at >= 0 && (!w.Known || strings.ContainsAny(w.Value[at:], "0123456789")) || isUnknown(w)
}

// namesVersion reports whether a word is a version, or ends with a version:
// "1.50", "v20", "node@12", "8.0.1-tem", "yojson.1.7".
func namesVersion(w argv.Word) bool {
	text := w.Value[strings.IndexAny(w.Value, "@=.")+1:]
	whole := strings.TrimPrefix(w.Value, "v")
	return startsWithDigit(whole) || startsWithDigit(strings.TrimLeft(text, "=v")) && strings.ContainsAny(w.Value, "@=.")
}

func startsWithDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

// isNumber reports whether a word has only digits and dots.
func isNumber(w argv.Word) bool { return w.Value != "" && strings.Trim(w.Value, "0123456789.") == "" }

// isEndOfSession reports whether a word names a method of D-Bus that ends a
// session or the machine, or that stops a unit.
func isEndOfSession(w argv.Word) bool {
	method := strings.ToLower(w.Value[strings.LastIndexAny(w.Value, "./")+1:])
	return slices.Contains([]string{
		"poweroff", "reboot", "halt", "kexec", "softreboot", "suspend", "hibernate", "hybridsleep", "suspendthenhibernate", "logout", "logoutandshutdown",
		"shutdown", "terminatesession", "terminateuser", "terminateseat", "killsession", "killuser", "locksession", "locksessions", "stopunit", "killunit",
		"disableunitfiles", "maskunitfiles", "quit", "exit", "disconnect", "deactivateconnection", "requestreboot", "requestshutdown",
	}, method)
}

// scriptEndsSession reports whether a text for osascript tells the system to
// log out, to restart or to stop.
func scriptEndsSession(c *call) bool {
	return slices.ContainsFunc(c.inv.Args, func(w argv.Word) bool {
		text := strings.ToLower(strings.Join(strings.Fields(w.Value), " "))
		if !strings.Contains(text, "system events") && !strings.Contains(text, "finder") && !strings.Contains(text, "loginwindow") {
			return false
		}
		return slices.ContainsFunc([]string{"shut down", "restart", "log out", "sleep", "aevtrrst", "aevtrsdn", "aevtrlgo", "aevtlogo", "empty trash", "empty the trash"}, func(verb string) bool {
			return strings.Contains(text, verb)
		})
	})
}

// acceptsOneSide reports whether a merge of Subversion discards one side.
func acceptsOneSide(c *call) bool {
	return slices.ContainsFunc(c.line.Values("--accept"), func(w argv.Word) bool {
		return !w.Known || !slices.Contains([]string{"postpone", "p", "working", "edit", "e", "launch", "l", "recommended", "r"}, w.Value)
	})
}

// nftVerb reports whether nft gets a command that begins with any of the verbs.
// It takes its commands as words or as a single text.
func (c *call) nftVerb(verbs ...string) bool {
	text := strings.Builder{}
	for _, w := range c.line.Operands {
		if !w.Known {
			return true
		}
		text.WriteString(w.Value + " ")
	}
	for command := range strings.FieldsFuncSeq(text.String(), func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(command)
		if len(words) > 0 && slices.Contains(verbs, words[0]) {
			return !c.line.Has("--check")
		}
	}
	return false
}

// nftChanges says that nft changes rules, or is told to by a file.
func nftChanges(c *call) bool {
	if c.line.Has("--check") {
		return false
	}
	return c.line.Has("--file", "--interactive") || c.nftVerb("add", "insert", "create", "replace", "rename", "import")
}

// allowsDowngrades says that an option of apt allows older versions.
func allowsDowngrades(c *call) bool {
	return slices.ContainsFunc(c.line.Values("--option"), func(w argv.Word) bool {
		name, value, _ := strings.Cut(strings.ToLower(w.Value), "=")
		return strings.HasSuffix(name, "::allow-downgrades") && !slices.Contains([]string{"false", "no", "0", "off"}, value) || isUnknown(w)
	})
}

// upgradesTwice says that pacman may put older versions in: "-Suu".
func upgradesTwice(c *call) bool {
	n := 0
	for _, o := range c.line.Options {
		if o.Name == "--sysupgrade" {
			n++
		}
	}
	return n > 1
}

// resolvesLowest says that uv is told to choose the lowest versions.
func resolvesLowest(c *call) bool {
	return slices.ContainsFunc(c.line.Values("--resolution"), func(w argv.Word) bool { return !w.Known || strings.HasPrefix(w.Value, "lowest") })
}

// migratesToZero reports whether Django takes all migrations of an application
// back.
func migratesToZero(c *call) bool {
	operands, _ := argv.Text(c.line.Operands)
	return slices.Contains(operands, "migrate")
}

// managesDatabase reports whether "dotnet ef" works on a database.
func managesDatabase(c *call) bool {
	operands, _ := argv.Text(c.line.Operands)
	return len(operands) > 2 && operands[0] == "ef" && operands[1] == "database"
}

// rollsBack reports whether a program for migrations reverts a migration, or
// drops a database.
func rollsBack(c *call) bool {
	operands, _ := argv.Text(c.line.Operands)
	at := slices.Index(operands, "database")
	if at < 0 {
		return true
	}
	return at+1 < len(operands) && slices.Contains([]string{"drop", "reset"}, operands[at+1]) ||
		slices.ContainsFunc(operands, func(w string) bool { return w == "drop" || w == "reset" || w == "down" })
}
