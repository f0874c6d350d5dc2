// Package tasks holds the tasks of the lab. They are small jobs with their
// files. Each of them leads models into a failure mode that a variant treats.
//
// Every task is a file in txtar's format, FAMILY/MODE/NN.txtar, written by
// hand. The package reads them; it runs nothing and measures nothing.
package tasks

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Task is a job for an agent.
type Task struct {
	Family, Mode string
	Name         string // of its file without the ending, such as 01
	Lang         string // the language of most of its files
	Prompt       string
	Check        string // a command that tells whether it is done; empty: none does
	// Phantom is a path that the prompt names and that is not there; empty: it
	// names none.
	Phantom string
	Files   []File // the files at the start of an agent, by path
}

// File is a file of a fixture.
type File struct{ Path, Text string }

//go:embed */*/*.txtar
var texts embed.FS

// Of reads the tasks of a failure mode in their order; none if the mode has no
// tasks. It returns an error for a task that cannot be read.
func Of(family, mode string) ([]Task, error) {
	names, err := fs.Glob(texts, path.Join(family, mode, "*.txtar"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Task
	for _, name := range names {
		text, err := texts.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t, err := Parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Parse reads the file FAMILY/MODE/NN.txtar of a task: lines KEY: VALUE, a
// blank line, the prompt, and the files, each below a line -- PATH --.
func Parse(file, text string) (Task, error) {
	dir := path.Dir(file)
	t := Task{
		Family: path.Base(path.Dir(dir)), Mode: path.Base(dir),
		Name: strings.TrimSuffix(path.Base(file), ".txtar"),
	}
	comment, files := split(text)
	t.Files = files
	head, prompt, _ := strings.Cut(comment, "\n\n")
	for line := range strings.SplitSeq(strings.TrimSpace(head), "\n") {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "lang":
			t.Lang = value
		case "check":
			t.Check = value
		case "phantom":
			t.Phantom = value
		default:
			return t, fmt.Errorf("%s: unknown key %q; there is lang, check, phantom", file, name)
		}
	}
	t.Prompt = strings.TrimSpace(prompt)
	if err := t.check(); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func (t *Task) check() error {
	switch {
	case t.Lang == "":
		return errors.New("lang is missing")
	case t.Prompt == "":
		return errors.New("there is no prompt after an empty line")
	case len(t.Files) == 0:
		return errors.New("there are no files to start from")
	}
	seen := map[string]bool{}
	for _, f := range t.Files {
		switch {
		case !fs.ValidPath(f.Path) || f.Path == "." || f.Path == ".git" || strings.HasPrefix(f.Path, ".git/"):
			return fmt.Errorf("%q is no path of a file in a repository", f.Path)
		case seen[f.Path]:
			return fmt.Errorf("%s appears twice", f.Path)
		case f.Path == t.Phantom:
			return fmt.Errorf("%s is a phantom and is there", f.Path)
		}
		seen[f.Path] = true
	}
	return nil
}

// split splits txtar's format at its markers: the text above the first, and the
// files.
func split(text string) (comment string, files []File) {
	var b strings.Builder
	flush := func() {
		if len(files) == 0 {
			comment = b.String()
		} else {
			files[len(files)-1].Text = b.String()
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		name, ok := marker(line)
		if !ok {
			b.WriteString(line)
			continue
		}
		flush()
		files = append(files, File{Path: name})
	}
	flush()
	return comment, files
}

// marker is the path of a line -- PATH --.
func marker(line string) (string, bool) {
	line = strings.TrimRight(line, "\r\n")
	name, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, " --")
	return strings.TrimSpace(name), ok && strings.TrimSpace(name) != ""
}
