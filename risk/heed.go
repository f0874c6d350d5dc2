package risk

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// deniedRule is the id of the part that a denial leads to.
const deniedRule = "denied"

// Denied has the losses of files that were denied to an agent, by paths as a
// [Loss] has.
type Denied struct {
	Agent      string // its name, for the reason
	Deletes    []string
	Overwrites []string
	// Cleans are folders and files of which only those were to be deleted that
	// git does not have.
	Cleans []string
}

// Heed adds a part for each call that repeats a denied action on a file. Such a
// call deletes or overwrites a file of the denied action, or a file below it. A
// change in place loses nothing. It counts only if the denied action would have
// overwritten the same file.
func (f *Finding) Heed(d *Denied, p *Place) {
	for i := range f.Losses {
		l := &f.Losses[i]
		path, denied := d.covers(l, p)
		if path == "" {
			continue
		}
		verb := "deletes"
		if l.Overwrites {
			verb = "overwrites"
		}
		if l.target.possible {
			verb = "may " + strings.TrimSuffix(verb, "s")
			if p.kind(l.target.path) != PathFile {
				verb += " files in"
			}
		}
		part := l.call
		part.Rule, part.Tier = deniedRule, Destructive
		part.Reason = fmt.Sprintf("%s was denied to %s %s; this %s %s", d.Agent, denied, path, verb, l.Path)
		l.Judged = true
		if slices.ContainsFunc(f.Parts, func(o Part) bool { return o.Rule == deniedRule && o.Reason == part.Reason && o.Span == part.Span }) {
			continue
		}
		// Before the others of its call: it says more than they do.
		at := slices.IndexFunc(f.Parts, func(o Part) bool {
			return o.Span.Start > part.Span.Start || o.Span.Start == part.Span.Start && o.Rule != deniedRule
		})
		if at < 0 {
			at = len(f.Parts)
		}
		f.Parts = slices.Insert(f.Parts, at, part)
		f.Tier = max(f.Tier, Destructive)
	}
}

// covers returns the path that an agent was denied to change, and how; empty
// where a loss has to do with none.
func (d *Denied) covers(l *Loss, p *Place) (file, denied string) {
	for _, one := range d.Deletes {
		if !l.Edits && l.reaches(one, p) {
			return one, "delete"
		}
	}
	for _, one := range d.Cleans {
		if !l.Overwrites && l.reaches(one, p) && (l.target.partial || l.target.deep || !p.tracks(l.target.path)) {
			return one, "delete the untracked files of"
		}
	}
	for _, one := range d.Overwrites {
		below, above := reach(one, l.Path)
		if (below || above && l.target.possible) && (l.Edits || l.happens(p)) {
			return one, "overwrite"
		}
	}
	return "", ""
}

// reaches reports whether a loss is at or below a path, or takes away a folder
// above it.
func (l *Loss) reaches(file string, p *Place) bool {
	below, above := reach(file, l.Path)
	switch {
	case above:
		return l.target.deep && l.happens(p)
	case !below || !l.happens(p):
		return false
	case l.target.deep || !l.target.partial || len(elements(file)) != len(elements(l.Path)):
		return true
	}
	// "*" of rm without an option for folders leaves the folder as it is.
	return isPattern(file) || p.kind(path.Join(p.Root, unescaped(file))) != PathFolder
}

// happens reports whether there may be a file that is lost.
func (l *Loss) happens(p *Place) bool {
	if l.target.partial {
		return true
	}
	switch kind := p.kind(l.target.path); {
	case kind == PathMissing:
		return false
	case l.Overwrites && kind == PathFolder:
		return l.target.possible
	default:
		return !l.target.maybe || kind != PathUnknown
	}
}
