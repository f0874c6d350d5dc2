package worktree

import "strings"

// suspicious reports whether a path may be one that git refuses, since some
// file system could take a part of it for a .git, or for a file that git
// believes (verify_path). Git is asked about these; that it takes many of them
// does no harm.
func suspicious(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if oddName(part) {
			return true
		}
	}
	return false
}

func oddName(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\\\x00") {
		return true
	}
	// Some file systems drop signs beyond ASCII from names, some know a short
	// name for a long one.
	plain := strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if strings.HasPrefix(plain, "git~") || strings.HasPrefix(plain, "gi7") || strings.HasPrefix(plain, "gitmod~") {
		return true
	}
	rest, isGit := strings.CutPrefix(plain, ".git")
	if !isGit {
		return false
	}
	if len(plain) != len(name) || strings.HasPrefix(rest, "modules") {
		return true
	}
	return rest == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", rune(rest[0]))
}
