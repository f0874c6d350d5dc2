package task

import "strings"

// ModulePatch is the change of an agent in a submodule.
type ModulePatch struct {
	Path   string `json:"path"`          // of the submodule, also of a nested submodule
	Store  string `json:"store"`         // the git dir that keeps the commit
	Ref    string `json:"ref,omitempty"` // there
	Commit string `json:"commit"`        // the commit that the parent's patch records
	Base   string `json:"base"`
	// File holds the text of the patch; empty: there is no text, or it is too long.
	File    string   `json:"file,omitempty"`
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Paths   []string `json:"paths,omitempty"` // below the submodule, at most a hundred
}

// Size counts the changed files and lines of a patch with those of its submodules.
// The recorded commit of a submodule counts as a file.
func (p *Patch) Size() (files, added, deleted int) {
	files, added, deleted = p.Files, p.Added, p.Deleted
	for _, m := range p.Modules {
		files, added, deleted = files+m.Files, added+m.Added, deleted+m.Deleted
	}
	return files, added, deleted
}

// ModuleOf is the patch of the innermost submodule that a path lies in, and the
// path below it; nil for none. The path of a submodule is in its parent.
func (p *Patch) ModuleOf(path string) (m *ModulePatch, below string) {
	for i := range p.Modules {
		rest, ok := strings.CutPrefix(path, p.Modules[i].Path+"/")
		if ok && (m == nil || len(rest) < len(below)) {
			m, below = &p.Modules[i], rest
		}
	}
	return m, below
}
