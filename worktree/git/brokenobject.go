package git

import (
	"fmt"
	"regexp"
	"sync"
)

// restoreAdvice says how an object comes back.
const restoreAdvice = "`git fsck` lists all that is wrong; `git fetch --refetch` or another clone has it again, if it was pushed"

// brokenWords find in git's words, under LC_ALL=C, the object that it could
// not read, and whether it is damaged or missing.
var brokenWords = sync.OnceValue(func() []struct {
	state string
	words *regexp.Regexp
} {
	const id = `([0-9a-f]{40}(?:[0-9a-f]{24})?)`
	return []struct {
		state string
		words *regexp.Regexp
	}{
		{"damaged", regexp.MustCompile(`(?:loose|packed) object ` + id + ` \(stored in .*\) is corrupt`)},
		{"damaged", regexp.MustCompile(`(?:object|hash mismatch) ` + id + ` is corrupt`)},
		{"damaged", regexp.MustCompile(`(?:hash mismatch|sha1 mismatch) (?:for .* |for )?\(?(?:expected )?` + id)},
		{"missing", regexp.MustCompile(`unable to read (?:tree|sha1 file of .*|object)? ?\(?` + id)},
		{"missing", regexp.MustCompile(`[Cc]ould not read ` + id)},
		{"missing", regexp.MustCompile(`(?:bad object|missing (?:blob|tree|commit|object)) ` + id)},
		{"missing", regexp.MustCompile(`invalid object [0-7]{6} ` + id)},
		{"missing", regexp.MustCompile(`failed to read object ` + id)},
		// Git gives no id here.
		{"missing", regexp.MustCompile(`failed to unpack tree object (\S+)`)},
	}
})

// brokenObject is the line about an object that git could not read; empty where
// it says nothing of the kind.
func brokenObject(said string) string {
	for _, b := range brokenWords() {
		if m := b.words.FindStringSubmatch(said); m != nil {
			return fmt.Sprintf("object %s of this repository is %s: %s", m[1], b.state, restoreAdvice)
		}
	}
	return ""
}
