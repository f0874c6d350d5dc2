package git

import (
	"errors"
	"strings"
)

// Transient reports whether git gave up on a lock that another git held for a
// moment, or read a file that another git was writing. Only such an error
// allows a retry.
func Transient(err error) bool {
	var bad *Error
	if !errors.As(err, &bad) {
		return false
	}
	locked := strings.Contains(bad.Stderr, "could not lock config file") ||
		strings.Contains(bad.Stderr, ".lock") && strings.Contains(bad.Stderr, "File exists")
	return locked || strings.Contains(bad.Stderr, "failed to read") &&
		strings.Contains(bad.Stderr, "commondir")
}
