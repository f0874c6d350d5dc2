package privatehome

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Snapshot is the user's HOME at one moment, as private HOMEs show it.
type Snapshot struct{ shown }

// shown is the part of a template that depends on the contents of the user's
// HOME.
type shown struct {
	entries []entry
	cargo   []entry // of CARGO_HOME
	goEnv   []byte  // the file of `go env -w`
}

// Snapshot looks the user's HOME over once more.
func (t *Template) Snapshot() Snapshot { return Snapshot{t.look()} }

// current lists the files that private HOMEs show at this moment.
func (t *Template) current() shown {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.shown
}

func (t *Template) look() shown {
	if t.home == "" {
		return shown{}
	}
	s := &scan{
		home: t.home, hidden: t.hidden, unseen: t.unseen, live: t.live, moved: t.movedFolders(),
		files: t.movedFiles(), forms: plainPlaces(t.given, t.getenv),
	}
	s.walk()
	return shown{entries: s.entries, cargo: t.cargoEntries(), goEnv: t.readGoEnv()}
}

// Include adds to the template the changes of the user's HOME between two
// snapshots. A private HOME that is built later shows them. Other changes of
// the user's HOME stay out.
func (t *Template) Include(before, after Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = include(t.entries, before.entries, after.entries)
	t.cargo = include(t.cargo, before.cargo, after.cargo)
	if !bytes.Equal(before.goEnv, after.goEnv) {
		t.goEnv = after.goEnv
	}
}

// include returns entries with the changes between before and after. The limits
// of a scan hold for the sum, too.
func include(entries, before, after []entry) []entry {
	all, was, is := byPath(entries), byPath(before), byPath(after)
	changed := false
	for path, e := range is {
		if old, ok := was[path]; ok && old.same(e) {
			continue
		}
		changed = true
		all[path] = e
		// The template may lack a folder that something else made meanwhile.
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			if at, ok := is[dir]; ok {
				all[dir] = at
			}
		}
	}
	for path := range was {
		if _, ok := is[path]; !ok {
			changed = true
			delete(all, path)
		}
	}
	if !changed {
		return entries
	}
	return bounded(all)
}

// bounded orders entries, each folder before its contents. It leaves out those
// whose folder is not there as a folder. Beyond the limits, a copy is a link to
// the user's file.
func bounded(all map[string]entry) (kept []entry) {
	folders := map[string]bool{".": true}
	copies := 0
	for _, e := range sorted(all) {
		if !folders[filepath.Dir(e.path)] {
			continue
		}
		folders[e.path] = e.kind == folder
		if e.kind == copied {
			if copies += len(e.text); copies > maxCopied && e.from != "" {
				e = entry{path: e.path, kind: link, from: e.from}
			}
		}
		kept = append(kept, e)
	}
	return kept
}

func sorted(all map[string]entry) []entry {
	list := make([]entry, 0, len(all))
	for _, e := range all {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")),
			strings.Compare(a.path, b.path))
	})
	return list
}

func byPath(entries []entry) map[string]entry {
	all := make(map[string]entry, len(entries))
	for _, e := range entries {
		all[e.path] = e
	}
	return all
}

// same reports whether two entries of the same path show the same.
func (e entry) same(other entry) bool {
	return e.kind == other.kind && e.from == other.from && e.mode == other.mode && bytes.Equal(e.text, other.text)
}
