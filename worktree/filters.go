package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// filters is the frozen configuration of reading files.
type filters struct {
	words    []string        // of all commands that clean
	fileMode bool            // the disk knows which files are executable
	drivers  map[string]bool // the names of all filters
	autoCRLF bool            // line ends are changed without an attribute, too
	logged   bool            // refs of all kinds have reflogs, or files have modes of their own
	programs []string        // absolute names among the words of all filters
	storage  string          // where git-lfs keeps its files; empty: it was never asked to
	odd      bool            // names or symlinks are not on the disk as git has them
}

// findTools finds the files of the base that a filter command names. Filters
// run in the scratch tree, which must have the base's content of these files
// and not an agent's.
func (c *capturing) findTools(ctx context.Context) error {
	var err error
	if c.filters, err = c.readFilters(ctx, c.quarantine); err != nil || len(c.filters.words) == 0 {
		return err
	}
	c.tools = map[string]bool{}
	for _, e := range c.index {
		if e.Mode&0o170000 == 0o100000 && slices.Contains(c.filters.words, e.Path) {
			c.tools[e.Path] = true
		}
	}
	return nil
}

// readFilters reads them once; a frozen configuration does not change.
func (t *Trees) readFilters(ctx context.Context, q *git.Quarantine) (*filters, error) {
	return learn(ctx, t, func() (*filters, bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.filters, t.filters != nil
	}, func() (*filters, error) {
		out, err := q.Run(ctx, git.Cmd{Args: []string{"config", "--list", "-z"}})
		if err != nil {
			return nil, err
		}
		f := parseFilters(string(out))
		t.mu.Lock()
		defer t.mu.Unlock()
		t.filters = f
		return f, nil
	})
}

// parseFilters reads `config --list -z`: "key\nvalue\0".
func parseFilters(out string) *filters {
	f := &filters{fileMode: true, drivers: map[string]bool{}}
	for rec := range strings.SplitSeq(out, "\x00") {
		key, value, hasValue := strings.Cut(rec, "\n")
		no := hasValue && slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(value))
		if name, ok := strings.CutPrefix(key, "filter."); ok {
			f.drivers[name[:max(strings.LastIndexByte(name, '.'), 0)]] = true
		}
		clean := strings.HasSuffix(key, ".clean") || strings.HasSuffix(key, ".process")
		switch {
		case key == "core.filemode":
			f.fileMode = !no
		case key == "core.autocrlf":
			f.autoCRLF = !no
		case key == "core.logallrefupdates" && strings.EqualFold(value, "always"), key == "core.sharedrepository":
			f.logged = true
		case key == "core.symlinks":
			f.odd = f.odd || no
		case key == "core.ignorecase", key == "core.precomposeunicode":
			f.odd = f.odd || !no
		case key == "lfs.storage":
			f.storage = value
		case strings.HasPrefix(key, "filter."):
			words := strings.FieldsFunc(value, func(r rune) bool {
				return strings.ContainsRune(" \t\n'\";|&<>()=", r)
			})
			for _, w := range words {
				if clean {
					f.words = append(f.words, strings.TrimPrefix(w, "./"))
				}
				if filepath.IsAbs(w) {
					f.programs = append(f.programs, w)
				}
			}
		}
	}
	return f
}
