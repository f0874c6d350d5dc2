package git

import (
	"context"
	"path"
	"slices"
	"strings"
)

// modulesWay says which checkouts of submodules lie where changes put something.
type modulesWay struct {
	checkedOut map[string]bool  // all of them, by path; no other rule looks below
	changed    []string         // files in them that no commit has
	refused    []ModuleInTheWay // those that block the changes
}

// modulesInTheWay checks the checkouts of submodules where the changes record a
// submodule or replace it by files. Like git's own checkout it accepts a submodule
// that is at the recorded commit already: its files stay.
func (r *Repo) modulesInTheWay(ctx context.Context, changes []Change) (way modulesWay, err error) {
	way.checkedOut = map[string]bool{}
	above := newPathSet(changes).above
	for _, c := range changes {
		added := c.OldMode == absent && c.NewMode == Gitlink
		if !added && !replacesModule(c, above) {
			continue
		}
		m, err := r.Module(c.Path)
		if err != nil {
			return way, err
		}
		if m == nil {
			continue
		}
		way.checkedOut[c.Path] = true
		if added {
			head, err := m.Ref(ctx, "HEAD")
			if err != nil || head != c.New { // a damaged repository is at no commit
				way.refused = append(way.refused, ModuleInTheWay{Path: c.Path, Want: c.New})
			}
			continue
		}
		files, err := m.uncommitted(ctx)
		for _, f := range files {
			way.changed = append(way.changed, path.Join(c.Path, f))
		}
		if err != nil || len(files) == 0 {
			way.refused = append(way.refused, ModuleInTheWay{Path: c.Path})
		}
	}
	return way, ctx.Err()
}

// replacesModule reports whether a change puts a file or files in place of a
// submodule.
func replacesModule(c Change, above map[string]bool) bool {
	return c.OldMode == Gitlink && c.NewMode != Gitlink && (c.NewMode != absent || above[c.Path])
}

// uncommitted lists the files of a checkout that no commit has, ignored ones too.
func (r *Repo) uncommitted(ctx context.Context) ([]string, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=none",
	}})
	if err != nil {
		return nil, err
	}
	var files []string
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if len(rec) > len("XY ") {
			files = append(files, rec[len("XY "):])
		}
	}
	slices.Sort(files)
	return files, nil
}
