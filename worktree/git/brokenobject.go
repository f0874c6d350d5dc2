package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
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
		{"damaged", regexp.MustCompile(`unable to unpack ` + id + ` header`)},
		{"damaged", regexp.MustCompile(`object file .*?([0-9a-f]{2})/([0-9a-f]{38}(?:[0-9a-f]{24})?) is empty`)},
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
			return fmt.Sprintf("object %s of this repository is %s: %s", strings.Join(m[1:], ""), b.state, restoreAdvice)
		}
	}
	return ""
}

// isDamaged reports whether an object that git cannot read is there, with a content
// that is no object. Git itself calls such an object missing at times.
func (r *Repo) isDamaged(ctx context.Context, id Hash) bool {
	_, err := r.Run(ctx, Cmd{Args: []string{"cat-file", "-t", string(id)}, Env: offline()})
	bad, ok := errors.AsType[*Error](err)
	return ok && strings.Contains(brokenObject(bad.Stderr), " is damaged: ")
}

// brokenIndexWords find in git's words, under LC_ALL=C, that the index cannot be
// read.
var brokenIndexWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`index file (?:smaller than expected|corrupt)|bad index (?:version|file sha1 signature)|bad signature 0x|unable to map index file|(?:malformed name|unordered stage entries|unknown index entry|ordering) .*index`)
})

// brokenIndex is the line about an index that git could not read; empty where it
// says nothing of the kind.
func brokenIndex(said string) string {
	if !brokenIndexWords().MatchString(said) {
		return ""
	}
	return "the index of this repository is damaged: `rm \"$(git rev-parse --git-path index)\" && git reset` makes it again from HEAD and changes no file"
}
