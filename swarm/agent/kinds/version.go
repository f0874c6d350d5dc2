package kinds

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
)

// Verdict is the comparison of a version with the tried versions. The zero
// value is an unknown version.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Older           // than any that was tried
	Tested
	Newer  // than any that was tried
	Broken // too old: it is known not to work
)

// String is the word for the verdict.
func (v Verdict) String() string {
	switch v {
	case Older:
		return "older than tested"
	case Tested:
		return "tested"
	case Newer:
		return "newer than tested"
	case Broken:
		return "too old"
	default:
		return "unknown"
	}
}

// dotted finds a version in a program's description of itself.
var dotted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9.])([0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9})(-[0-9A-Za-z.-]+)?`)
})

// Version returns the version in a program's output: the first three numbers
// with dots between them, and the part after a dash. It returns "" where there
// is none.
func Version(said string) string {
	m := dotted().FindStringSubmatch(said)
	if m == nil {
		return ""
	}
	return m[1] + strings.TrimRight(m[2], ".-")
}

// Judge compares a version with those that were tried.
func Judge(version string, tried agent.Versions) Verdict {
	has, ok := numbers(version)
	oldest, low := numbers(tried.Oldest)
	newest, high := numbers(tried.Newest)
	switch {
	case !ok || !low || !high:
		return Unknown
	case broken(has, tried.Broken):
		return Broken
	case slices.Compare(has[:], oldest[:]) < 0:
		return Older
	case slices.Compare(has[:], newest[:]) > 0:
		return Newer
	case strings.Contains(version, "-") && has == oldest:
		return Older // a release candidate comes before its release
	default:
		return Tested
	}
}

// broken reports whether a version is at most the newest that does not work, by
// its first two numbers.
func broken(has [3]int, newest string) bool {
	most, ok := numbers(newest + ".0")
	return ok && slices.Compare(has[:2], most[:2]) <= 0
}

// numbers are the three of a version.
func numbers(version string) (n [3]int, ok bool) {
	release, _, _ := strings.Cut(version, "-")
	parts := strings.Split(release, ".")
	if len(parts) != len(n) {
		return n, false
	}
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil || n[i] < 0 {
			return n, false
		}
	}
	return n, true
}

// Unfit is why agents of a found kind should not be started: its program is known
// not to work, or it is not logged in. It is nil where they may be.
type Unfit struct{ Kind, Reason, Advice string }

func (u *Unfit) Error() string { return "agent " + u.Kind + ": " + u.Reason }

// Check returns why agents of a found kind should not be started, by the version
// that its program said; empty: it is not known.
func Check(f Found, version string) *Unfit {
	if Judge(version, f.Version) == Broken {
		return &Unfit{
			Kind: f.Name, Reason: "your " + f.Name + " is " + version + "; needs " + f.Version.Oldest,
			Advice: "update it: " + cmp.Or(f.Install, f.Program),
		}
	}
	if f.Kind.Login != nil && f.Program != "" && f.Login.Name == "" {
		return &Unfit{Kind: f.Name, Reason: "it is not logged in", Advice: f.Login.Missing}
	}
	return nil
}

// Advice explains a verdict to a person; empty if there is nothing to explain.
func Advice(k agent.Kind, v Verdict) string {
	switch v {
	case Older:
		return "older than " + k.Version.Oldest + ", the oldest that was tried; update it: " + cmp.Or(k.Install, k.Program)
	case Broken:
		return "too old to work; needs " + k.Version.Oldest + "; update it: " + cmp.Or(k.Install, k.Program)
	case Newer:
		return "newer than " + k.Version.Newest + ", the newest that was tried"
	case Unknown:
		return "its version is not known"
	default:
		return ""
	}
}
