package library

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/event"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/workflow"
)

// readText reads a regular file of at most some bytes. A longer text is cut a byte above that,
// so that the caller can refuse it.
func readText(path string, most int) (string, error) {
	// A pipe in a checkout may have no writer.
	switch stat, err := os.Stat(path); {
	case err != nil:
		return "", err
	case !stat.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	return string(text), errors.Join(err, f.Close())
}

// folderRequest says which files of a folder are read.
type folderRequest struct {
	dir  string // from the top of the checkout
	ext  string
	most int // bytes of each
	// patient leaves out files that cannot be read.
	patient bool
}

// folder reads files of a folder of the checkout, by their paths from its top;
// none where there is no such folder.
func (l *Library) folder(r folderRequest) ([]event.ScriptFile, error) {
	entries, err := os.ReadDir(filepath.Join(l.Project.Root(), r.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refusal.Of(err)
	}
	var files []event.ScriptFile
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != r.ext {
			continue
		}
		path := filepath.Join(l.Project.Root(), r.dir, e.Name())
		text, err := "", l.stays(path)
		if err == nil {
			text, err = readText(path, r.most)
		}
		if err != nil && r.patient {
			continue
		}
		if err != nil {
			return nil, refusal.Of(err)
		}
		files = append(files, event.ScriptFile{Name: r.dir + "/" + e.Name(), Text: text})
	}
	return files, nil
}

// stays refuses a file of the checkout that is a link to something outside: it
// would be recorded with the run, and sent to agents.
func (l *Library) stays(path string) error {
	root, err := filepath.EvalSymlinks(l.Project.Root())
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is a link that leads out of the repository", path)
	}
	return nil
}

// GatherTypes reads the types of agents that calls may name.
func (l *Library) GatherTypes(s *Script) error {
	var files []event.ScriptFile
	for _, dir := range []string{workflow.TypesFolder, workflow.ClaudeFolder} {
		some, err := l.folder(folderRequest{
			dir: dir, ext: ".md", most: workflow.MaxTypeText, patient: dir == workflow.ClaudeFolder,
		})
		if err != nil {
			return err
		}
		files = append(files, some...)
	}
	all, err := workflow.Types(files)
	if err != nil {
		return refusal.Of(err)
	}
	for name, t := range all {
		if t.Refused != "" {
			t.Prompt = "" // no agent gets it
			all[name] = t
		}
	}
	s.Types = all
	return nil
}

// Gather reads the parts of the checkout that a script may use: the project's own functions,
// and its types of agents.
func (l *Library) Gather(s *Script) error { return errors.Join(l.gatherFunctions(s), l.GatherTypes(s)) }

// gatherFunctions reads the project's own functions.
func (l *Library) gatherFunctions(s *Script) error {
	files, err := l.folder(folderRequest{dir: FunctionsFolder, ext: ".js", most: MaxScript})
	for _, f := range files {
		if len(f.Text) > MaxScript {
			return refusal.New("%s: a file of functions may be %s long", termtext.Line(f.Name), termtext.Bytes(MaxScript))
		}
	}
	s.Lib = files
	return err
}
