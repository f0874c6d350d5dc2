package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Trashed is a run whose folder is in the trash.
type Trashed struct {
	Run  string
	Path string
	Time time.Time // when it was removed
	// Damage is set where its run.json cannot be used.
	Damage error

	state *State
}

// View reads the view of the run at its removal.
func (t *Trashed) View() (*View, error) { return t.asRun().View() }

// Home is where its folder has to be for the run to be there again.
func (t *Trashed) Home() string { return filepath.Join(t.state.runs(), t.Run) }

func (t *Trashed) asRun() *Run { return &Run{ID: t.Run, Dir: t.Path, state: t.state} }

// ErrThere says that a removed run cannot come back, since a run of its id is
// there.
var ErrThere = errors.New("a run of this id is there")

// Restore moves the folder of a removed run back, and returns the run. Where a
// run of its id is there the error is [ErrThere], and the folder stays.
func (t *Trashed) Restore(ctx context.Context) (run *Run, err error) {
	gone := t.asRun()
	lock, err := gone.take(ctx) // gc may be about to empty the trash
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock(lock), lock.Close()) }()
	switch _, err := os.Lstat(t.Home()); {
	case err == nil:
		return nil, fmt.Errorf("bring run %s back: %w", t.Run, ErrThere)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("bring run %s back: %w", t.Run, err)
	}
	if err := makeFolder(t.state.runs()); err != nil {
		return nil, err
	}
	if err := os.Rename(t.Path, t.Home()); err != nil {
		return nil, fmt.Errorf("bring run %s back: %w", t.Run, err)
	}
	run = &Run{ID: t.Run, Dir: t.Home(), state: t.state}
	return run, errors.Join(syncFolder(t.state.runs()), syncFolder(t.state.Trash()))
}

// Trashed lists the removed runs that are still in the trash. A damaged run is
// listed and hides no other. A folder that differs from Remove's result is not
// listed. It returns an error if the trash cannot be read.
func (s *State) Trashed() ([]Trashed, error) {
	all, err := s.inTrash("run")
	if err != nil {
		return nil, err
	}
	for i := range all {
		_, all[i].Damage = all[i].asRun().Identity()
	}
	return slices.DeleteFunc(all, func(t Trashed) bool { return t.Damage != nil && !t.owned() }), nil
}

// owned tells whether the folder was ever that of a run: each has a lock.
func (t *Trashed) owned() bool {
	at, err := os.Lstat(t.asRun().Lock())
	return err == nil && at.Mode().IsRegular()
}

// Unmade lists the folders that a crash left while a run was made: no reader
// has ever seen a run there. For a moment before its lock is taken a new run is
// listed, too; so only old folders may be removed. A folder with files that
// Create does not write is not listed. It returns an error if the trash cannot
// be read.
func (s *State) Unmade() ([]Trashed, error) {
	all, err := s.inTrash("new")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(t Trashed) bool {
		entries, err := os.ReadDir(t.Path)
		strange := slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return !e.Type().IsRegular() || !ofCreate(e.Name())
		})
		return err != nil || strange || t.asRun().Live()
	}), nil
}

// ofCreate tells whether Create makes a file of this name.
func ofCreate(name string) bool {
	return name == "run.json" || name == "lock" || name == "journal.jsonl" || strings.HasPrefix(name, ".new-")
}

// inTrash lists the folders in the trash that trashed named.
func (s *State) inTrash(what string) ([]Trashed, error) {
	entries, err := os.ReadDir(s.Trash())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the trash: %w", err)
	}
	var all []Trashed
	for _, e := range entries {
		seconds, rest, _ := strings.Cut(e.Name(), "-")
		run, ok := strings.CutSuffix(rest, "-"+what)
		at, err := strconv.ParseInt(seconds, 10, 64)
		if !ok || err != nil || !e.IsDir() || !isRunID(run) {
			continue
		}
		all = append(all, Trashed{
			Run: run, Path: filepath.Join(s.Trash(), e.Name()), Time: time.Unix(at, 0), state: s,
		})
	}
	return all, nil
}

// Lost lists the runs that have a folder of workspaces, but that are gone or
// cannot be read: no record names the owner of those workspaces. A run with a
// live owner is not listed. It returns an error if a folder cannot be read.
func (s *State) Lost() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "trees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	var lost []string
	for _, e := range entries {
		if !e.IsDir() || !isRunID(e.Name()) {
			continue
		}
		r := &Run{ID: e.Name(), Dir: filepath.Join(s.runs(), e.Name()), state: s}
		switch _, err := os.Lstat(r.Dir); {
		case errors.Is(err, fs.ErrNotExist):
			lost = append(lost, r.ID)
		case err != nil:
			return nil, fmt.Errorf("find run %s: %w", r.ID, err)
		default:
			if _, err := r.Identity(); err != nil && !r.Live() {
				lost = append(lost, r.ID)
			}
		}
	}
	return lost, nil
}
