// Package library finds, reads, checks, tests and saves the workflow scripts of a
// repository, with the functions and the types of agents that they use.
//
// It runs no agent. An error that the user can mend is a [*refusal.Error], a
// [*refusal.Cause] or an [*Error]; any other is a failure of swarm.
package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/project"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/script"
)

// Library is the workflow scripts of a repository.
type Library struct {
	Project *project.Project // required
	// Self is the path of the running binary: scripts are read in processes of their own.
	// Required.
	Self string
}

// Folders of a repository.
const (
	Folder          = ".swarm/workflows"  // of saved workflows
	ClaudeFolder    = script.ClaudeFolder // of saved workflows of Claude Code
	FunctionsFolder = ".swarm/lib"        // of the functions of the project
)

// SavedFile is the file of a saved workflow, for a flag or a call that names it. verb is for
// messages.
func (l *Library) SavedFile(verb, name string) (string, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || name == "" {
		return "", refusal.New("%s %s: want the name of a saved workflow, without folders", verb, termtext.Line(name))
	}
	all := l.Saved()
	for _, w := range all {
		if w.Name == strings.TrimSuffix(name, ".js") {
			return w.Path, nil
		}
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	message := fmt.Sprintf("%s %s: there is no such workflow in %s or %s", verb, termtext.Line(name), Folder, ClaudeFolder)
	if near := nearest.Name(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return "", refusal.New("%s", message)
}

// Saved is a saved workflow.
type Saved struct {
	Name, Path string
	Folder     string // of the repository
}

// Saved returns the workflows of the checkout. Of two with the same name the
// first counts.
func (l *Library) Saved() []Saved {
	var all []Saved
	for _, dir := range []string{Folder, ClaudeFolder} {
		entries, err := os.ReadDir(filepath.Join(l.Project.Root(), dir))
		if err != nil {
			continue // the folder is missing
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".js")
			if !ok || e.IsDir() || slices.ContainsFunc(all, func(w Saved) bool { return w.Name == name }) {
				continue
			}
			all = append(all, Saved{name, filepath.Join(l.Project.Root(), dir, e.Name()), dir})
		}
	}
	return all
}

// Found is a script that a command names.
type Found struct {
	Name string // as it was given, or that of a saved workflow
	Path string
	File string // the path in messages
}

// Find finds the file or the saved workflow that a word names. verb is for messages.
func (l *Library) Find(verb, word string) (Found, error) {
	if word == "" {
		return Found{}, refusal.New("%s: an empty word names no workflow", verb)
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.Project.Dir, path)
	}
	stat, err := os.Stat(path)
	isFile := err == nil && stat.Mode().IsRegular()
	if isFile && strings.EqualFold(filepath.Ext(word), ".js") {
		return Found{word, path, filepath.ToSlash(word)}, nil
	}
	var names []string
	for _, w := range l.Saved() {
		if w.Name == strings.TrimSuffix(word, ".js") {
			return l.found(w), nil
		}
		names = append(names, w.Name)
	}
	message := fmt.Sprintf("%s: %s: there is no such file, and no such workflow in %s or %s",
		verb, termtext.Line(word), Folder, ClaudeFolder)
	switch near := nearest.Name(word, names); {
	case isFile:
		message = fmt.Sprintf("%s: %s: a script's file ends in .js", verb, termtext.Line(word))
	case near != "":
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return Found{}, refusal.New("%s", message)
}

func (l *Library) found(w Saved) Found { return Found{w.Name, w.Path, l.Shown(w.Path)} }

// FindAll finds the scripts that words name; without a word it is every saved workflow.
func (l *Library) FindAll(verb string, words []string) ([]Found, error) {
	var all []Found
	if len(words) == 0 {
		for _, w := range l.Saved() {
			all = append(all, l.found(w))
		}
	}
	for _, word := range words {
		s, err := l.Find(verb, word)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Shown is the path of a script in messages: from the top of the checkout if it lies there.
func (l *Library) Shown(path string) string {
	if rel, err := filepath.Rel(l.Project.Root(), path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
