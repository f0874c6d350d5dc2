package library

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/config"
	"agentswarm/swarm/script"
)

// Nested finds a workflow that a script calls. It returns a [*script.Error] for
// a workflow of the repository without an approval.
func (l *Library) Nested(s *Script, n *script.Nested) (*script.Source, error) {
	path, source, err := l.findNested(s, n)
	if err != nil {
		return nil, err
	}
	return source, l.trustNested(path, source.Text)
}

// findNested finds a workflow that a script calls.
func (l *Library) findNested(s *Script, n *script.Nested) (path string, source *script.Source, err error) {
	name := n.Path
	path = n.Path
	switch {
	case n.Name != "":
		if path, err = l.SavedFile("workflow:", n.Name); err != nil {
			return "", nil, unknownScript(err)
		}
		name = n.Name
	case !filepath.IsAbs(path) && s.Path == "":
		return "", nil, unknownScript(fmt.Errorf("workflow: %s: a script that was typed has no folder; give an absolute path", path))
	case !filepath.IsAbs(path):
		from := s.Path
		if filepath.IsAbs(n.From) {
			from = n.From
		}
		path = filepath.Join(filepath.Dir(from), path)
		name = path
	}
	text, err := readText(path, MaxScript)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("workflow: %s: there is no such file", path)
	}
	if err != nil {
		return "", nil, unknownScript(err)
	}
	if len(text) > MaxScript {
		return "", nil, unknownScript(fmt.Errorf("workflow: %s: a script may be %s long", path, termtext.Bytes(MaxScript)))
	}
	lies, err := l.Project.PathsOf(path)
	if err != nil {
		return "", nil, unknownScript(err)
	}
	return path, &script.Source{Name: name, Text: text, Form: formOf(path, lies)}, nil
}

// trustNested returns an error for a workflow of the repository without an
// approval.
func (l *Library) trustNested(path, text string) error {
	lies, err := l.Project.PathsOf(path)
	if err != nil {
		return unknownScript(err)
	}
	if len(lies) == 0 && !l.Project.InNested(path) {
		return nil
	}
	file := path
	if len(lies) > 0 {
		file = lies[0]
	}
	missing, err := l.Project.Trust().Pending([]config.Item{Item(file, text)})
	if err != nil || len(missing) == 0 {
		return err
	}
	return &script.Error{Name: "Error", Code: script.CodePolicy, Message: fmt.Sprintf(
		"workflow: %s comes from this repository and is not approved; read it, then `swarm workflow validate %s --trust`",
		file, file)}
}

func unknownScript(err error) error {
	return &script.Error{Name: "Error", Code: script.CodeUnknown, Message: err.Error()}
}
