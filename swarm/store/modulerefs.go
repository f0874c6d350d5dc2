package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/statefile"
)

// ModuleRefs is a removed run with refs that stayed in the user's submodules.
type ModuleRefs struct {
	Run     string
	Created time.Time // of the run; zero: unknown

	state *State
}

// moduleRefs is the folder with a file for each run with such refs.
func (s *State) moduleRefs() string { return filepath.Join(s.Dir, "module-refs") }

// ModuleRefs makes the value for a run.
func (s *State) ModuleRefs(run string, created time.Time) *ModuleRefs {
	return &ModuleRefs{Run: run, Created: created, state: s}
}

// LeftModuleRefs lists the runs that Keep recorded. An unreadable record has no
// time. It returns an error if the folder cannot be read.
func (s *State) LeftModuleRefs() ([]*ModuleRefs, error) {
	at, err := os.Lstat(s.moduleRefs())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !at.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.moduleRefs())
	if err != nil {
		return nil, err
	}
	var all []*ModuleRefs
	for _, e := range entries {
		if !isRunID(e.Name()) || e.IsDir() {
			continue
		}
		m := s.ModuleRefs(e.Name(), time.Time{})
		if text, err := statefile.Read(s.Dir, m.file()); err == nil {
			if created, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err == nil {
				m.Created = created
			}
		}
		all = append(all, m)
	}
	return all, nil
}

func (m *ModuleRefs) file() string { return filepath.Join(m.state.moduleRefs(), m.Run) }

// Keep records that the run has such refs.
func (m *ModuleRefs) Keep() error {
	if err := makeFolder(m.state.moduleRefs()); err != nil {
		return err
	}
	return writeFile(m.file(), []byte(m.Created.UTC().Format(time.RFC3339)+"\n"))
}

// Forget removes the record, and the folder with the last record.
func (m *ModuleRefs) Forget() error {
	if err := os.Remove(m.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(m.state.moduleRefs()) // fails while it holds others
	return nil
}
