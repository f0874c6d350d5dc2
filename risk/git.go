package risk

import (
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// isDryRun says that nothing will be done. npm and others read the word behind
// the option as its value, if it can be: "--dry-run false".
func isDryRun(c *call) bool {
	return c.surely("--dry-run") && !slices.ContainsFunc(c.line.Options, func(o argv.Option) bool {
		next := o.At + 1
		return o.Name == "--dry-run" && !o.Valued && next < len(c.inv.Args) && isOff(c.inv.Args[next]) && (c.inv.Args[next].Known || c.inv.Program == "npm")
	})
}

// isHelp says that only an explanation is asked for.
func isHelp(c *call) bool {
	if w, ok := c.first(); ok && w.Known && w.Value == "help" && len(c.line.Sub) == 0 {
		return true
	}
	if n := len(c.inv.Args); c.inv.Program == "git" && n > 1 && n == len(c.line.Sub)+1 && c.inv.Args[n-1].Value == "-h" {
		return true // by itself it is no option of any command of git
	}
	return c.surely("--help", "-help") || c.surely("--version", "-version") && len(c.inv.Args) == 1
}

// isDot says that a word means all files of a folder.
func isDot(w argv.Word) bool {
	return isUnknown(w) || slices.Contains([]string{".", "./", ":/", ":", "*", "..", "/"}, w.Value)
}

// discardsPaths reports whether a checkout discards changes of files, in place
// of changing to a branch.
func discardsPaths(c *call) bool {
	operands := c.line.Operands
	making := c.line.Has("-b", "-B", "--orphan", "--detach", "--track") && !c.line.Unsure
	switch {
	case c.line.Dashes >= 0 && len(operands) > c.line.Dashes:
		return true
	case c.line.Has("--pathspec-from-file", "--patch", "--ours", "--theirs"):
		return true
	case making || len(operands) == 0:
		return false
	case len(operands) > 1:
		return true
	}
	return mayBePath(c, operands[0])
}

// mayBePath says that a word of a checkout is a file, as far as is known.
func mayBePath(c *call, w argv.Word) bool {
	text := w.Value
	switch {
	case !w.Known || w.Glob, isDot(w), strings.HasSuffix(text, "/"), strings.HasPrefix(text, ":"), strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"), strings.ContainsAny(text, "*?["):
		return true
	case text == "-" || strings.ContainsAny(text, "@~^"):
		return false
	}
	if is, known := c.place.isRef(text); known && is {
		return false
	}
	if t := resolve(w, c.inv.Cwd, writes); c.place.Facts != nil && t.path != "" {
		if c.place.Facts.Tracked(t.path) {
			return true
		}
		switch c.place.kind(t.path) {
		case PathFile, PathFolder, PathLink:
			return true
		case PathMissing:
			return false
		case PathUnknown:
		}
	}
	return isFileName(path.Base(text))
}

// isFileName reports whether a name ends as names of files do.
func isFileName(base string) bool {
	end := path.Ext(base)
	if len(end) < 2 || len(end) > 6 {
		return slices.Contains([]string{"Makefile", "Dockerfile", "README", "LICENSE"}, base)
	}
	return !strings.ContainsAny(end[1:2], "0123456789") // a version
}

// isPublished says that the commits that would be rewritten are on a remote,
// or may be.
func isPublished(c *call) bool {
	if c.place.Facts == nil || c.inv.Remote || c.elsewhere() != areaTree {
		return true
	}
	published, known := c.place.Facts.Published("HEAD")
	return published || !known
}

// resetsBranch says that a checkout with -B moves a branch that is there.
func resetsBranch(c *call) bool {
	names := c.line.Values("-B", "--force-create")
	for _, w := range names {
		if is, known := c.place.isRef(w.Value); w.Known && known && !is {
			return false
		}
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(w argv.Word) bool { return w.Known && w.Value == c.place.Branch })
}

// updatesRefs reports whether a setting on the command line makes a rebase move
// branches.
func updatesRefs(c *call) bool {
	return slices.ContainsFunc(c.line.Options, func(o argv.Option) bool {
		key, value, given := strings.Cut(o.Value.Value, "=")
		return o.Level == 0 && (o.Name == "-c" || o.Name == "--config-env") && strings.EqualFold(key, "rebase.updaterefs") &&
			(!given || !o.Value.Known || !isOff(argv.Known(value)))
	})
}

// renamesOther reports whether a call moves a branch that is not checked out.
func renamesOther(c *call) bool {
	if len(c.line.Operands) < 2 {
		w, ok := c.first()
		return ok && c.line.Has("--force") && !(w.Known && w.Value == c.place.Branch)
	}
	return true
}

// isConfigWrite says that git's configuration is changed.
func isConfigWrite(c *call) bool {
	if c.line.Has("--unset", "--unset-all", "--add", "--replace-all", "--rename-section", "--remove-section", "--edit") {
		return true
	}
	if len(c.line.Sub) > 1 && slices.Contains([]string{"set", "unset", "edit", "rename-section", "remove-section"}, c.line.Sub[1]) {
		return true
	}
	if len(c.line.Sub) > 1 || c.surely("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "--get-color", "--get-colorbool") {
		return false
	}
	return len(c.line.Operands) > 1 || c.line.Unsure
}

// isConfigShared reports whether a change of the configuration writes the file
// that work trees share.
func isConfigShared(c *call) bool {
	return isConfigWrite(c) && !c.surely("--worktree", "--file", "--global", "--system", "--blob")
}

// reading are the programs within git that change nothing whatever their
// options are, but for files that are named.
func reading() []string {
	return []string{
		"status", "diff", "log", "show", "blame", "annotate", "grep", "ls-files", "ls-tree", "ls-remote", "rev-parse", "rev-list",
		"describe", "cat-file", "shortlog", "name-rev", "merge-base", "for-each-ref", "show-ref", "show-branch", "var", "help",
		"version", "diff-tree", "diff-index", "diff-files", "whatchanged", "cherry", "range-diff", "check-ignore", "check-attr",
		"check-ref-format", "count-objects", "fsck", "verify-commit", "verify-tag", "merge-tree", "get-tar-commit-id", "patch-id",
		"column", "stripspace", "archive", "format-patch", "request-pull",
	}
}

// readsOnly says that a git command changes nothing.
func readsOnly(c *call) bool {
	name, deeper := c.gitVerb()
	l := c.line
	switch {
	case name == "":
		return len(l.Operands) == 0
	case slices.Contains(reading(), name):
		return true
	case name == "branch":
		return l.Has("--list", "--show-current", "--all", "--remotes", "--contains", "--merged") || len(l.Operands) == 0 && !l.Unsure
	case name == "tag":
		return l.Has("--list", "--verify", "--contains", "--points-at", "--merged") || len(l.Operands) == 0 && !l.Unsure
	case name == "config":
		return !isConfigWrite(c)
	case name == "stash", name == "notes":
		return deeper == "list" || deeper == "show"
	case name == "remote":
		return deeper == "" && len(l.Operands) == 0 || deeper == "show" || deeper == "get-url"
	case name == "worktree":
		return deeper == "list"
	case name == "reflog":
		return deeper == "show" || deeper == "list" || deeper == "exists" || deeper == "" && len(l.Operands) == 0
	}
	return isHelp(c) || isDryRun(c)
}

// gitVerb returns the subcommand of git, and the subcommand of that.
func (c *call) gitVerb() (name, deeper string) {
	words := slices.Clone(c.line.Sub)
	for _, w := range c.line.Operands {
		if len(words) < 2 && w.Known {
			words = append(words, w.Value)
		}
	}
	words = append(words, "", "")
	return words[0], words[1]
}

// elsewhere says in whose files a git command works: that of its folder, of -C
// and of the variables that name another git dir.
func (c *call) elsewhere() area {
	cwd := c.inv.Cwd
	worst := areaTree
	look := func(w argv.Word) {
		t := resolve(w, cwd, writes)
		a := areaOutside
		if t.path != "" && !t.partial {
			a = c.place.areaOf(t.path)
		}
		if t.path == "" && c.place.Shared {
			a = areaOther
		}
		if a != areaTree && a != areaGit {
			worst = max(worst, a)
			if worst < areaCommon && a == areaOutside {
				worst = areaTmp // another repository, of which nothing is known
			}
		}
	}
	look(argv.Known("."))
	for _, o := range c.line.Options {
		if o.Level > 0 || !o.Valued {
			continue
		}
		switch o.Name {
		case "-C":
			t := resolve(o.Value, cwd, writes)
			cwd.Path, cwd.Known = t.path, t.path != "" && !t.partial
			look(argv.Known("."))
		case "--git-dir", "--work-tree":
			look(o.Value)
		}
	}
	for _, a := range c.inv.Assigns {
		if slices.Contains([]string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"}, a.Name) {
			look(a.Value)
		}
	}
	return worst
}

// reachesOther says that a git command that changes something works in
// another work tree, or in the git dir that they share.
func reachesOther(c *call) bool {
	if c.inv.Remote || !c.place.Shared || readsOnly(c) {
		return false
	}
	a := c.elsewhere()
	return a == areaOther || a == areaCommon
}
