package risk

import (
	"path"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// change is the kind of change to a file.
type change string

const (
	writes  change = "write"  // the old content is gone
	appends change = "append" // the old content stays
	creates change = "create" // it is made, or touched, if it is not there
	removes change = "remove"
)

// target is a file that something would change.
type target struct {
	kind change
	// path is absolute and cleaned; empty: nothing is known. If partial is set,
	// path is the folder above the file, and name is the beginning of the rest.
	path      string
	partial   bool
	name      string
	pattern   string // the pattern that makes the target partial
	maybe     bool   // the file of this name in a folder, should it be a folder
	moved     bool   // by a folder that a cd led to
	remote    bool   // on another machine
	deep      bool   // with all below it
	edits     bool   // its content is changed in place
	untracked bool   // and only files there that git does not have
	judged    bool   // a rule above VISIBLE is about it
	slash     bool   // a link at the path is followed, as by a slash at the end
	linked    bool   // it becomes a link
	possible  bool   // it is not known which files below the path are changed
	// through is the file that links lead to, where the path itself was
	// forgotten for them; nil: there are none, or it is not known.
	through *target
}

// area is whose files are at a path.
type area uint8

const (
	areaOutside area = iota
	areaTree         // the work tree
	areaTmp          // the folders for temporary files
	areaGit          // the git dir of the work tree, or the file that points at it
	areaCommon       // the git dir that work trees share
	areaOther        // another work tree
)

// maxPath is the greatest length of a path, in bytes. No system opens a longer
// path.
const maxPath = 4096

// resolve is the file that a word means.
func resolve(w argv.Word, cwd shell.Folder, kind change) target {
	t := target{kind: kind, moved: cwd.Moved, slash: strings.HasSuffix(w.Value, "/")}
	text := w.Value
	if len(text) > maxPath {
		return t
	}
	if w.Glob {
		if at := strings.IndexAny(text, "*?[{"); at >= 0 {
			if climbs(text[at:]) {
				return t
			}
			text = text[:at]
		}
		t.partial, t.pattern = true, w.Value
	}
	if !w.Known {
		if kind == removes || text == "" {
			return t // it may climb out of the folder it begins with
		}
		t.partial = true
	}
	if text == "" && !t.partial {
		return t
	}
	if t.partial {
		at := strings.LastIndexByte(text, '/')
		text, t.name = text[:at+1], text[at+1:]
		if text == "" {
			text = "."
		}
	}
	switch {
	case path.IsAbs(text):
		t.path = path.Clean(text)
	case cwd.Known && path.IsAbs(cwd.Path):
		t.path = path.Join(cwd.Path, text)
	}
	return t
}

// climbs says that a pattern has a ".." in it.
func climbs(pattern string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// inside says that a path is a folder or below it.
func inside(folder, p string) bool {
	if folder == "" || p == "" {
		return false
	}
	return p == folder || folder == "/" || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// areaOf says whose files are at a path: the area whose folder is the nearest.
func (p *Place) areaOf(file string) area {
	found, length := areaOutside, -1
	look := func(a area, folder string) {
		if folder = path.Clean(folder); folder != "." && inside(folder, file) && len(folder) >= length {
			found, length = a, len(folder)
		}
	}
	for _, t := range p.Tmp {
		if !p.besideRoot(t, file) {
			look(areaTmp, t)
		}
	}
	for _, o := range p.Others {
		look(areaOther, o)
	}
	look(areaTree, p.Root)
	look(areaCommon, p.CommonDir)
	look(areaGit, p.GitDir)
	if p.Root != "" {
		look(areaGit, path.Join(p.Root, ".git"))
	}
	if p.Shared && found == areaGit && p.CommonDir != "" && path.Clean(p.CommonDir) == path.Join(p.Root, ".git") && !isMessage(file) {
		return areaCommon // the main checkout: its git dir is everybody's
	}
	return found
}

// isMessage says that a file of a git dir holds a message that is being
// written.
func isMessage(file string) bool {
	switch path.Base(file) {
	case "COMMIT_EDITMSG", "MERGE_MSG", "TAG_EDITMSG":
		return true
	}
	return false
}

// besideRoot reports whether a file shares its folder below a temporary folder
// with the work tree. The program that made the work tree may have put other
// work trees next to it.
func (p *Place) besideRoot(tmp, file string) bool {
	tmp = path.Clean(tmp)
	if p.Root == "" || tmp == p.Root || !inside(tmp, p.Root) || !inside(tmp, file) {
		return false
	}
	first := func(of string) string {
		part, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(of, tmp), "/"), "/")
		return part
	}
	return first(file) == first(p.Root)
}

// below is a path from the top of the work tree; false: it is not in it.
func (p *Place) below(file string) (string, bool) {
	if p.Root == "" || !inside(p.Root, file) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(file, p.Root), "/"), true
}

// kind returns the kind of file at a path, as far as the place knows.
func (p *Place) kind(file string) PathKind {
	if p.Facts == nil {
		return PathUnknown
	}
	return p.Facts.Path(file)
}

// isRef says whether a name is a branch, a tag or a commit; false, false: the
// place does not know.
func (p *Place) isRef(name string) (is, known bool) {
	if p.Facts == nil {
		return false, false
	}
	return p.Facts.Ref(name), true
}

// home is a path below the home folder; false: it is not.
func (p *Place) home(file string) (string, bool) {
	if p.Home == "" || !inside(p.Home, file) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(file, p.Home), "/"), true
}
