package git

import (
	"context"
	"fmt"
	"strings"
)

// Setting is an entry of the configuration.
type Setting struct {
	// Section and Name are in lower case. The subsection Of may stand between
	// them: the name of a branch, a remote, an address.
	Section, Of, Name string
	Value             string
	// Scope is the file that the entry is from, in git's words: system, global,
	// local or worktree.
	Scope string
	Bare  bool // there is a name and no value, which means true
}

// Key is the full name, as in "remote.origin.url".
func (s *Setting) Key() string {
	if s.Of == "" {
		return s.Section + "." + s.Name
	}
	return s.Section + "." + s.Of + "." + s.Name
}

// settingsLimit is how long a configuration may be.
const settingsLimit = 16 << 20

// Settings lists the configuration of the repository, preceded by that of the
// user and of the system. So the last entry counts for keys with a single
// value. The list omits the options that swarm gives to every git.
func (r *Repo) Settings(ctx context.Context) ([]Setting, error) {
	return listSettings(ctx, r.Run, Cmd{})
}

// SettingsAt is [Repo.Settings] for a folder in no repository.
func (g *Git) SettingsAt(ctx context.Context, dir string) ([]Setting, error) {
	return listSettings(ctx, g.Run, Cmd{Dir: dir})
}

func listSettings(ctx context.Context, run func(context.Context, Cmd) ([]byte, error), c Cmd) ([]Setting, error) {
	out := Bounded{Limit: settingsLimit}
	c.Args, c.Stdout = []string{"config", "--list", "-z", "--includes", "--show-scope"}, &out
	_, err := run(ctx, c)
	text, err := out.Bytes(err)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return parseSettings(string(text))
}

// parseSettings reads "scope\0key\nvalue\0".
func parseSettings(text string) ([]Setting, error) {
	var all []Setting
	for text != "" {
		scope, rest, ok := strings.Cut(text, "\x00")
		entry, rest, ended := strings.Cut(rest, "\x00")
		if !ok || !ended {
			return nil, fmt.Errorf("read the configuration: unexpected record %.80q", text)
		}
		text = rest
		key, value, given := strings.Cut(entry, "\n")
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if scope == "command" || first < 0 {
			continue
		}
		s := Setting{Section: key[:first], Name: key[last+1:], Value: value, Scope: scope, Bare: !given}
		if first < last {
			s.Of = key[first+1 : last]
		}
		all = append(all, s)
	}
	return all, nil
}

// On reports whether the value means true. A number other than zero does, and
// so does a value that git would refuse.
func (s *Setting) On() bool {
	switch strings.ToLower(s.Value) {
	case "", "false", "no", "off", "0":
		return s.Bare
	}
	return true
}
