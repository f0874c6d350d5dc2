//go:build !linux

package worktree

// fileSystem has no names here.
func fileSystem(string) (string, error) { return "", nil }
