//go:build !linux

package precheck

// fileSystem has no names here.
func fileSystem(string) (string, error) { return "", nil }
