package risk

import (
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// links are the links that a text makes, by absolute paths.
type links struct {
	// symbolic has where each symbolic link leads; empty: it is not known.
	symbolic map[string]string
	// hard has for each file the other name that it gets.
	hard map[string]string
}

// maxLinks bounds the links that are followed for a path, as systems do.
const maxLinks = 40

// add adds the links that a command makes. A link that is moved or copied leads
// to the same place.
func (l *links) add(r *Rules, inv *shell.Invocation, p *Place) {
	if inv.Shadowed || inv.Remote || !slices.Contains([]string{"ln", "gln", "cp", "gcp", "mv", "gmv"}, inv.Program) {
		return
	}
	c := &call{rules: r, inv: inv, line: r.parsed(inv), place: p, text: &siblings{}}
	folders, sources := c.line.Values("--target-directory"), c.line.Operands
	last := argv.Known(".")
	switch {
	case len(folders) > 0:
		last = folders[0]
	case len(sources) > 1:
		last, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	for _, source := range sources {
		for _, at := range c.places(last, source, len(folders) > 0) {
			l.make(c, source, at)
		}
	}
}

// places returns where a link or a copy of a file may appear, as absolute paths:
// at the last operand, or in it if that is a folder.
func (c *call) places(last, source argv.Word, folder bool) (all []string) {
	if !last.Known || last.Glob {
		return nil
	}
	at := resolve(last, c.inv.Cwd, creates).path
	if at == "" {
		return nil
	}
	kind, whole := c.place.kind(at), c.line.Has("--no-target-directory", "--no-dereference")
	folder = folder || last.Value == "." || strings.HasSuffix(last.Value, "/")
	if !folder && (whole || kind != PathFolder) {
		all = append(all, at)
	}
	if base := path.Base(source.Value); source.Known && !source.Glob && base != "." && base != ".." && base != "/" && (folder || !whole && kind != PathFile && kind != PathMissing) {
		all = append(all, path.Join(at, base))
	}
	return all
}

// make adds a link at a path.
func (l *links) make(c *call, source argv.Word, at string) {
	from := resolve(source, c.inv.Cwd, creates)
	linker := c.inv.Program == "ln" || c.inv.Program == "gln"
	to := ""
	switch {
	case linker && c.line.Has("--symbolic") || c.line.Has("--symbolic-link"):
		switch {
		case !source.Known || source.Glob || source.Value == "":
		case path.IsAbs(source.Value):
			to = path.Clean(source.Value)
		case c.line.Has("--relative"):
			to = from.path
		default:
			to = path.Join(path.Dir(at), source.Value)
		}
	case from.path == "" || from.partial:
		return
	case linker || c.line.Has("--link"):
		if l.hard == nil {
			l.hard = map[string]string{}
		}
		l.hard[at] = from.path
		return
	default:
		var ok bool
		if to, ok = l.leads(c.place, from.path); !ok {
			return
		}
	}
	if l.symbolic == nil {
		l.symbolic = map[string]string{}
	}
	if was, ok := l.symbolic[at]; ok && was != to {
		to = "" // it leads to either
	}
	if to != at {
		l.symbolic[at] = to
	}
}

// leads reports where the symbolic link at a path leads; false: there is none.
func (l *links) leads(p *Place, at string) (to string, ok bool) {
	if to, ok = l.symbolic[at]; ok {
		return to, true
	}
	if p.Facts == nil || at == p.Root || !inside(p.Root, at) || p.areaOf(at) != areaTree || p.Facts.Path(at) != PathLink {
		return "", false
	}
	return p.Facts.Link(at), true
}

// follow forgets the path of a file that a link leads to: a link may change
// before the action, and then the file may be anywhere. Removing a link removes
// the link itself. The file that links lead to now is kept beside it.
func (p *Place) follow(t *target, made *links) {
	if t.remote || t.path == "" {
		return
	}
	found, ok := p.linked(t, made, maxLinks)
	if !ok {
		return
	}
	t.path, t.partial, t.through = "", false, found
}

// linked returns the file that the links in a path lead to, nil where that is
// not known; false: the path has no links.
func (p *Place) linked(t *target, made *links, left int) (*target, bool) {
	if p.areaOf(t.path) != areaTree && len(made.symbolic) == 0 {
		return nil, false
	}
	at, parts := "/", elements(t.path)
	for i, part := range parts {
		at = path.Join(at, part)
		if i == len(parts)-1 && !t.partial && t.kind == removes && !t.slash {
			return nil, false
		}
		to, ok := made.leads(p, at)
		if _, own := made.symbolic[at]; !ok || own && t.linked && i == len(parts)-1 {
			continue // the command makes that link itself
		}
		if to == "" || left == 0 {
			return nil, true
		}
		file := *t
		file.path = path.Join(append([]string{to}, parts[i+1:]...)...)
		if further, ok := p.linked(&file, made, left-1); ok {
			return further, true
		}
		return &file, true
	}
	return nil, false
}
