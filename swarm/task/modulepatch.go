package task

// ModulePatch is the change of an agent in a submodule.
type ModulePatch struct {
	Path   string `json:"path"`          // of the submodule, also of a nested one
	Store  string `json:"store"`         // the git dir that keeps the commit
	Ref    string `json:"ref,omitempty"` // there
	Commit string `json:"commit"`        // what the patch of the parent records
	Base   string `json:"base"`
	// File holds the text of the patch; empty: there is no text, or it is too long.
	File    string   `json:"file,omitempty"`
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Paths   []string `json:"paths,omitempty"` // below the submodule, at most a hundred
}
