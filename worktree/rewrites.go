package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// rewrites are the rules that may make git store another content than that of a
// file. Only git knows whether a rule applies to a file; here is known whether
// any such rule exists.
type rewrites struct {
	any       bool // attributes are given to some files
	ident     bool // the word is among them
	filter    bool
	encodings bool
}

// maxRules bounds the attribute files of a base. If they are longer, rules of
// all kinds are assumed.
const maxRules = 4 << 20

// readRewrites looks into the attribute files of a base, and into those that
// the frozen configuration holds, once for each base.
func (c *capturing) readRewrites(ctx context.Context) (rewrites, error) {
	return learn(ctx, c.Trees, func() (rewrites, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		r, ok := c.Trees.rewrites[c.Workspace.Base]
		return r, ok
	}, func() (rewrites, error) {
		r, err := c.findRewrites(ctx)
		if err != nil {
			return r, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Trees.rewrites[c.Workspace.Base] = r
		return r, nil
	})
}

func (c *capturing) findRewrites(ctx context.Context) (r rewrites, err error) {
	for _, path := range []string{"info/attributes", "user-attributes"} {
		text, err := os.ReadFile(filepath.Join(c.Frozen.Dir, path))
		if err != nil && !disk.Missing(err) {
			return r, err
		}
		r.read(text)
	}
	var ids []git.Hash
	for i := range c.index {
		e := &c.index[i]
		if e.Mode&0o170000 == 0o100000 && filepath.Base(e.Path) == ".gitattributes" {
			ids = append(ids, e.ID)
		}
	}
	err = c.quarantine.Blobs(ctx, git.BlobsRequest{IDs: ids, Limit: maxRules, Take: r.read})
	var large *git.SizeError
	switch {
	case errors.As(err, &large):
		r = rewrites{any: true, ident: true, filter: true, encodings: true}
	case err != nil:
		return r, fmt.Errorf("read the attributes of the base: %w", err)
	}
	return r, nil
}

// read searches for the names of attributes. A name in a comment counts, which
// does no harm.
func (r *rewrites) read(text []byte) {
	text = bytes.TrimSpace(text)
	r.any = r.any || len(text) > 0
	r.ident = r.ident || bytes.Contains(text, []byte("ident"))
	r.filter = r.filter || bytes.Contains(text, []byte("filter"))
	r.encodings = r.encodings || bytes.Contains(text, []byte("working-tree-encoding"))
}

// certain reports whether git would store a content as it is, whatever rules of
// these apply to its file. Git changes line ends only if there is a carriage
// return before a line end, and expands names only at a dollar sign.
func (r rewrites) certain(f *filters, content []byte) bool {
	if (r.any || f.autoCRLF) && bytes.Contains(content, []byte("\r\n")) {
		return false
	}
	return !r.ident || !bytes.Contains(content, []byte("$Id"))
}

// given are the attributes that the base gives to some paths.
type given struct {
	filters  map[string]bool // the paths that have a filter
	encoding bool            // is given to some
}

// given asks git for it; it is asked only where anything could be given.
func (c *capturing) given(ctx context.Context, r rewrites, paths []string) (g given, err error) {
	if (!r.filter || len(c.filters.drivers) == 0) && !r.encodings || len(paths) == 0 {
		return g, nil
	}
	if c.asked != nil {
		return *c.asked, nil
	}
	out, err := c.quarantine.Run(ctx, git.Cmd{
		Args:  []string{"check-attr", "-z", "--stdin", "--cached", "filter", "working-tree-encoding"},
		Env:   []string{"GIT_INDEX_FILE=" + c.Workspace.Index},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return g, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) != 6*len(paths) {
		return g, fmt.Errorf("ask for the attributes of %d files: %d fields", len(paths), len(fields))
	}
	g.filters = map[string]bool{}
	for i := 2; i < len(fields); i += 3 {
		value := fields[i]
		if fields[i-1] != "filter" {
			g.encoding = g.encoding || value != "unspecified" && value != "unset"
		} else if c.filters.drivers[value] {
			g.filters[fields[i-2]] = true
		}
	}
	c.asked = &g
	return g, nil
}
