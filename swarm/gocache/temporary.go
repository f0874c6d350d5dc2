package gocache

import (
	"regexp"
	"sync"
)

// Temporary reports whether `go run` or `go test` built the program: below a
// go-build folder, which TMPDIR and the user's caches have, or in a folder
// named <sha256>-d, where build caches of any name keep executables.
func Temporary(program string) bool { return buildFolder().MatchString(program) }

var buildFolder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(go-build[0-9]*|[0-9a-f]{64}-d)/`)
})
