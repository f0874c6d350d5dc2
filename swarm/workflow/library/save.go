package library

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/fleet"
	"agentswarm/swarm/refusal"
)

// Saving is a script on its way into the library.
type Saving struct {
	Name   string // the workflow's
	Script *Script
	Test   string // the path of its test; empty: there is none
	Shown  string // the test in messages

	library *Library
}

// SaveRequest asks for a script to be saved as a workflow.
type SaveRequest struct {
	Name string // required; the extension .js is dropped
	Word string // names the script; see [Library.Find]
	// Typed has the text of the script, and Word counts for nothing. Nil: Word counts.
	Typed io.Reader
}

// PrepareSave reads a script that is to be saved, and finds its test. It changes nothing.
func (l *Library) PrepareSave(r SaveRequest) (*Saving, error) {
	const verb = "workflow save"
	s := &Saving{library: l}
	var err error
	if s.Name, err = workflowName(r.Name); err != nil {
		return nil, err
	}
	if r.Typed != nil {
		text, err := io.ReadAll(io.LimitReader(r.Typed, MaxScript+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if s.Script, err = New(verb, "(standard input)", string(text)); err != nil {
			return nil, err
		}
	} else {
		found, err := l.Find(verb, r.Word)
		if err != nil {
			return nil, err
		}
		file, err := l.ReadFile(verb, r.Word, found.Path)
		if err != nil {
			return nil, err
		}
		s.Script = file.Script
		if test := TestPath(found.Path); fspath.Exists(test) {
			s.Test, s.Shown = test, TestPath(found.File)
		}
	}
	there := TestPath(filepath.Join(l.Project.Root(), filepath.FromSlash(Folder), s.Name+".js"))
	if s.Test == "" && fspath.Exists(there) {
		s.Test, s.Shown = there, l.Shown(there)
	}
	return s, l.gatherFunctions(s.Script)
}

// Check refuses a text that is no script.
func (s *Saving) Check(ctx context.Context) error {
	_, err := s.library.Read(ctx, s.Script)
	return err
}

// RunTest runs the test of the script, which has to be there.
func (s *Saving) RunTest(ctx context.Context, t *Tester) (Tested, error) {
	return t.test(ctx, testRequest{script: *s.Script, test: s.Test, shown: s.Shown})
}

// File is the path of the workflow from the top of the checkout.
func (s *Saving) File() string { return Folder + "/" + s.Name + ".js" }

// SavedFiles are the files that a save wrote.
type SavedFiles struct {
	Test     string // from the top of the checkout; empty: there is none
	Replaced bool   // a file with another text was there
}

// workflowName is the name that a workflow is saved under.
func workflowName(word string) (string, error) {
	name := strings.TrimSuffix(word, ".js")
	letters := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "", len(name) > 100, strings.ContainsAny(name[:1], "._-"),
		strings.ContainsFunc(name, func(r rune) bool { return !letters(r) }):
		return "", refusal.New("workflow save: %s is not a name for a workflow: want letters, digits, and . _ - after the first", termtext.Line(word))
	}
	return name, nil
}

// Write puts the script and its test into the folder of workflows. The script comes last,
// since it is the file that is found. With force a file with another text is replaced.
func (s *Saving) Write(force bool) (out SavedFiles, err error) {
	root, err := os.OpenRoot(s.library.Project.Repo.TopLevel)
	if err != nil {
		return out, err
	}
	defer root.Close() // only a folder that was read
	folder, err := workflowFolder(root)
	if err != nil {
		return out, err
	}
	defer folder.Close() // only a folder that was read
	type file struct{ name, text string }
	files := []file{{s.Name + ".js", s.Script.Text}}
	if s.Test != "" {
		text, err := readText(s.Test, fleet.MaxSize)
		if err != nil {
			return out, refusal.Of(err)
		}
		files = append([]file{{s.Name + ".test.toml", text}}, files...)
		out.Test = Folder + "/" + s.Name + ".test.toml"
	}
	var fresh []file
	for _, f := range files {
		differs, there, err := compare(folder, f.name, f.text, force)
		switch {
		case err != nil:
			return out, err
		case differs || !there:
			fresh = append(fresh, f)
		}
		out.Replaced = out.Replaced || differs
	}
	for _, f := range fresh {
		if err := putFile(folder, f.name, f.text); err != nil {
			return out, fmt.Errorf("workflow save: %w", err)
		}
	}
	return out, nil
}

// workflowFolder opens the folder of saved workflows, and makes it where there
// is none. A link may lead to anywhere, and its target is not ours.
func workflowFolder(root *os.Root) (*os.Root, error) {
	for dir := range prefixes(Folder) {
		if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("workflow save: %w", err)
		}
		stat, err := root.Lstat(dir)
		if err != nil {
			return nil, fmt.Errorf("workflow save: %w", err)
		}
		if !stat.IsDir() {
			return nil, refusal.New("workflow save: %s is not a folder; move it away first", dir)
		}
	}
	return root.OpenRoot(Folder)
}

// prefixes are the folders on the way to a path, and it.
func prefixes(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, r := range path {
			if r == '/' && !yield(path[:i]) {
				return
			}
		}
		yield(path)
	}
}

// compare looks at the file that would be replaced. Another text is an error without force.
func compare(folder *os.Root, name, text string, force bool) (differs, there bool, err error) {
	stat, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("workflow save: %w", err)
	case !stat.Mode().IsRegular():
		return false, false, refusal.New("workflow save: %s/%s is not a regular file; move it away first", Folder, name)
	}
	old, err := folder.ReadFile(name)
	if err != nil {
		return false, false, fmt.Errorf("workflow save: %w", err)
	}
	if string(old) == text {
		return false, true, nil
	}
	if !force {
		return false, false, refusal.New("workflow save: %s/%s is there and says something else; --force replaces it", Folder, name)
	}
	return true, true, nil
}

// putFile writes a file, whole or not at all.
func putFile(folder *os.Root, name, text string) error {
	fresh := "." + name + "." + rand.Text()
	if err := fspath.WriteNew(folder, fresh, strings.NewReader(text)); err != nil {
		return err
	}
	if err := folder.Rename(fresh, name); err != nil {
		return errors.Join(err, folder.Remove(fresh))
	}
	return nil
}
