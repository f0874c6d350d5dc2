package shim

import (
	"slices"
	"strings"
)

// stashes: a line that begins with an option is a push, whatever follows.
func stashes(w words, _ asker) bool {
	return w.first == "" || w.first[0] == '-' ||
		slices.Contains([]string{"push", "save", "pop", "drop", "clear", "store", "branch", "import"}, w.first)
}

func branches(w words, _ asker) bool {
	switch {
	case w.has("d", "D", "m", "M", "c", "C", "delete", "move", "copy", "edit-description",
		"u", "set-upstream-to", "unset-upstream"):
		return true
	case w.has("l", "list", "contains", "no-contains", "merged", "no-merged", "points-at", "show-current"):
		return false
	}
	return len(w.operands)+len(w.after) > 0
}

func tags(w words, _ asker) bool {
	switch {
	case w.has("d", "delete"):
		return true
	case w.has("l", "list", "n", "v", "verify", "contains", "no-contains", "merged", "no-merged", "points-at"):
		return false
	}
	return len(w.operands)+len(w.after) > 0
}

// switches: HEAD on a branch would make the next commit move it.
func switches(w words, _ asker) bool {
	switch {
	case w.has("c", "C", "create", "force-create", "orphan"):
		return true
	case w.has("d", "detach"):
		return false
	}
	return len(w.operands)+len(w.after) > 0
}

func checksOut(w words, a asker) bool {
	switch {
	case w.has("b", "B", "orphan", "t", "track"):
		return true
	case w.has("d", "detach", "p", "patch", "pathspec-from-file", "ours", "theirs", "2", "3"):
		return false
	}
	// With more than a single word, or any after dashes, they are files.
	return len(w.operands) == 1 && len(w.after) == 0 && a.branch(w.operand(0))
}

// updatesRef: to delete any ref, git locks packed-refs, which is shared.
// Commands on stdin cannot be seen.
func updatesRef(w words, _ asker) bool {
	return w.has("d", "stdin") || w.operand(0) != "" && !private(w.operand(0))
}

func setsSymbolic(w words, _ asker) bool {
	return w.has("d", "delete") || len(w.operands) > 1
}

func changesSubmodules(w words, a asker) bool {
	return among("add", "init", "deinit", "sync", "set-url", "absorbgitdirs")(w, a) ||
		w.operand(0) == "update" && w.has("init")
}

func configures(w words, _ asker) bool {
	// The target decides: the sandbox guards the user's HOME and other files,
	// and git refuses --worktree where there is no such file.
	if w.has("global", "system", "worktree", "f", "file", "blob") {
		return false
	}
	switch w.operand(0) {
	case "set", "unset", "rename-section", "remove-section", "edit":
		return true
	case "get", "list":
		return false
	}
	switch {
	case w.has("get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool", "list", "l"):
		return false
	case w.has("add", "unset", "unset-all", "replace-all", "rename-section", "remove-section", "edit", "e"):
		return true
	}
	return len(w.operands) > 1
}

// fetches: commits from a URL, or without the refspecs of a remote, go to
// FETCH_HEAD, which is the workspace's own. A new depth, tags and pruning
// belong to the repository.
func fetches(w words, _ asker) bool {
	if w.has("dry-run") {
		return false
	}
	if w.has("depth", "deepen", "shallow-since", "shallow-exclude", "unshallow", "update-shallow",
		"t", "tags", "p", "prune", "P", "prune-tags", "all", "m", "multiple", "set-upstream", "r") {
		return true
	}
	if how, rebases := w.value("rebase"); rebases && how != "false" {
		return true
	}
	from, specs := w.operand(0), w.operands
	if len(specs) > 0 {
		specs = specs[1:]
	}
	stores := func(spec string) bool {
		_, to, _ := strings.Cut(spec, ":")
		return to != "" && !private(to) || spec == "tag"
	}
	if slices.ContainsFunc(specs, stores) {
		return true
	}
	if strings.ContainsAny(from, ":/") {
		return false
	}
	refmap, given := w.value("refmap")
	return len(specs) == 0 || !given || refmap != ""
}
