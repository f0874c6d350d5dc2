package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/task"
)

// Schema names the format of run.json.
const Schema = "swarm.runfile/1"

// Identity is the description of a run from its first moment on: the content of
// run.json. It never changes.
type Identity struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Created time.Time `json:"created"`
	Version string    `json:"version"`

	Base   Base   `json:"base"`
	Branch string `json:"branch,omitempty"` // checked out when it began; empty when detached

	CommonDir string `json:"common_dir"`
	TopLevel  string `json:"top_level,omitempty"` // empty in a bare repository
	Prefix    string `json:"prefix,omitempty"`    // where in it the command was given

	Workflow Workflow `json:"workflow"`
	Args     []string `json:"args,omitempty"`
	// Config is the engine's own snapshot of its configuration: agents,
	// setup, verify, limits. Store does not look into it.
	Config json.RawMessage `json:"config,omitempty"`
}

// Base is the start of the workspaces of a run.
type Base struct {
	Commit string   `json:"commit"`
	Tree   string   `json:"tree"`
	Kind   BaseKind `json:"kind"`
	// SnapshotOf is the commit a snapshot was taken from.
	SnapshotOf string `json:"snapshot_of,omitempty"`
}

// BaseKind says how a base was chosen. The zero value is none of them.
type BaseKind string

// The kinds of bases.
const (
	BaseHead        BaseKind = "head"
	BaseRef         BaseKind = "ref"
	BaseWithChanges BaseKind = "with_changes"
)

// Workflow is the source of the calls of a run.
type Workflow struct {
	Kind WorkflowKind `json:"kind"`
	Text string       `json:"text"` // the prompt, or the command for people
}

// WorkflowKind is a built-in workflow, or a script. The zero value is none of them.
type WorkflowKind string

// The kinds of workflows.
const (
	WorkflowPrompt WorkflowKind = "prompt"
	WorkflowEach   WorkflowKind = "each"
	WorkflowCount  WorkflowKind = "count"
	WorkflowTasks  WorkflowKind = "tasks"
	WorkflowScript WorkflowKind = "script"
)

// Run is the folder of a run.
type Run struct {
	ID  string
	Dir string

	state *State
}

// file is the run's run.json.
func (r *Run) file() string { return filepath.Join(r.Dir, "run.json") }

// Journal is the run's journal.
func (r *Run) Journal() string { return filepath.Join(r.Dir, "journal.jsonl") }

// RiskLog is the file with the outcomes of actions that were judged.
func (r *Run) RiskLog() string { return filepath.Join(r.Dir, "risk.jsonl") }

// UnknownLog is the record of the programs without a rule that agents ran.
func (r *Run) UnknownLog() string { return filepath.Join(r.Dir, "unknown.jsonl") }

// Lock is the file whose lock the owner of the run holds.
func (r *Run) Lock() string { return filepath.Join(r.Dir, "lock") }

// Secret is the file with the secret that requests to the owner of the run carry.
func (r *Run) Secret() string { return filepath.Join(r.Dir, "secret") }

// Frozen is the copy of the repository's git configuration that capture uses.
func (r *Run) Frozen() string { return filepath.Join(r.Dir, "frozen") }

// Modules is the folder that keeps the commits of agents in submodules.
func (r *Run) Modules() string { return filepath.Join(r.Dir, "modules") }

// Attempt is the folder of an attempt of an agent.
func (r *Run) Attempt(id task.ID, n int) string {
	return filepath.Join(r.Dir, "a", string(id), strconv.Itoa(n))
}

// Door is the socket by which a person's commands get to the sandbox of an
// attempt. The agent there cannot see its folder.
func (r *Run) Door(id task.ID, n int) string {
	return filepath.Join(r.Dir, "doors", task.AttemptName(id, n))
}

// OpenFile opens a file below the folder of the run, as [statefile.Open] does.
func (r *Run) OpenFile(path string, flags int) (*os.File, error) {
	return statefile.Open(r.state.Dir, path, flags)
}

// WriteFile makes or overwrites a file below the folder of the run, which
// [Run.OpenFile] opens. A crash may leave a part of it.
func (r *Run) WriteFile(path string, text []byte) error {
	f, err := r.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return noRoom(path, err)
	}
	_, err = f.Write(text)
	return errors.Join(noRoom(path, err), f.Close())
}

// ReadFile reads a file below the folder of the run, which [Run.OpenFile] opens.
func (r *Run) ReadFile(path string) ([]byte, error) { return r.readFile(path) }

// readFile reads a file of the run, as [statefile.Read] does.
func (r *Run) readFile(path string) ([]byte, error) { return statefile.Read(r.state.Dir, path) }

// State is the state the run belongs to.
func (r *Run) State() *State { return r.state }

// Identity reads the identity of the run. It returns an error if run.json
// cannot be read or is damaged.
func (r *Run) Identity() (Identity, error) {
	text, err := r.readFile(r.file())
	if err != nil {
		return Identity{}, &DamagedError{Run: r.ID, Err: err}
	}
	return r.identity(text)
}

// identity parses a text of run.json.
func (r *Run) identity(text []byte) (id Identity, err error) {
	file := r.file()
	if err := json.Unmarshal(text, &id); err != nil {
		return id, &DamagedError{Run: r.ID, Err: fmt.Errorf("%s: %w", file, err)}
	}
	switch {
	case id.Schema != Schema:
		err = fmt.Errorf("%s: its schema is %q, not %q", file, id.Schema, Schema)
	case id.Run != r.ID:
		err = fmt.Errorf("%s: it says that it is run %q", file, id.Run)
	default:
		return id, nil
	}
	return id, &DamagedError{Run: r.ID, Err: err}
}

// DamagedError is a run whose run.json cannot be used.
type DamagedError struct {
	Run string
	Err error
}

func (e *DamagedError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("run %s is damaged: it has no run.json, or this is an agent of it, which cannot see the file", e.Run)
	}
	return fmt.Sprintf("run %s is damaged: %v", e.Run, e.Err)
}

// Unwrap returns the cause of the damage.
func (e *DamagedError) Unwrap() error { return e.Err }

// Create makes a run and takes its ownership. Schema, Run and Created of the
// identity are filled in. A run is seen by others only once it is whole: it is
// made in the trash, where a crash leaves it to be collected, and moved.
func (s *State) Create(id Identity) (*Run, *Owner, error) {
	if err := s.Outside(id.TopLevel, id.CommonDir); err != nil {
		return nil, nil, err
	}
	if err := id.readable(); err != nil {
		return nil, nil, err
	}
	for _, dir := range []string{s.runs(), s.Trash(), filepath.Join(s.Dir, "trees"), filepath.Join(s.Dir, "locks")} {
		if err := makeFolder(dir); err != nil {
			return nil, nil, err
		}
	}
	for {
		name := newID()
		r := &Run{ID: name, Dir: s.trashed(name, "new"), state: s}
		id.Schema, id.Run, id.Created = Schema, name, time.Now().UTC()
		if err := os.Mkdir(r.Dir, 0o700); err != nil {
			return nil, nil, noRoom(r.Dir, fmt.Errorf("make run: %w", err))
		}
		o, err := r.make(id)
		if err == nil {
			if err = o.moveIn(filepath.Join(s.runs(), name)); err == nil {
				return r, o, nil
			}
			err = errors.Join(err, o.Close())
		}
		taken := errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
		// Once it has moved it is a run, even where the disk failed after.
		if r.Dir != filepath.Join(s.runs(), name) {
			err = errors.Join(err, os.RemoveAll(r.Dir))
		}
		if !taken {
			return nil, nil, fmt.Errorf("make run: %w", err)
		}
	}
}

// make fills the folder of a new run and owns it.
func (r *Run) make(id Identity) (*Owner, error) {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(r.file(), append(text, '\n')); err != nil {
		return nil, err
	}
	lock, err := r.lock()
	if err != nil {
		return nil, err
	}
	return r.open(lock)
}

// moveIn renames the new run's folder to where runs are found. It fails where
// there is a run of this id already.
func (o *Owner) moveIn(dir string) error {
	if err := syncFolder(o.Run.Dir); err != nil {
		return err
	}
	if err := os.Rename(o.Run.Dir, dir); err != nil {
		return err
	}
	o.Run.Dir = dir
	return errors.Join(syncFolder(filepath.Dir(dir)), syncFolder(o.Run.state.Dir))
}

// readable refuses text that JSON would change silently.
func (id *Identity) readable() error {
	for name, text := range map[string]string{
		"repository path": id.CommonDir, "working tree path": id.TopLevel,
		"folder": id.Prefix, "branch name": id.Branch, "workflow": id.Workflow.Text,
		"argument": strings.Join(id.Args, "\n"),
	} {
		if !utf8.ValidString(text) {
			return fmt.Errorf("the %s %q is not UTF-8; it cannot be recorded", name, text)
		}
	}
	return nil
}

// newID draws six letters and digits. It leaves out characters that look alike,
// ids that could be a number or an agent's id, and ids that begin like an
// agent's. a7 must not become the prefix of a run where there is no such agent.
func newID() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789" // 32: no bias
	for {
		var raw [6]byte
		_, _ = rand.Read(raw[:]) // never fails, says its documentation
		for i := range raw {
			raw[i] = letters[raw[i]%32]
		}
		if id := string(raw[:]); isRunID(id) && task.ID(id[:2]).Number() == 0 {
			return id
		}
	}
}

// isRunID tells whether a text has the form of a run id.
func isRunID(text string) bool {
	if len(text) != 6 || task.ID(text).Number() != 0 {
		return false
	}
	letter := false
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z':
			letter = true
		case c < '0' || c > '9':
			return false
		}
	}
	return letter
}

// trashed names an entry of the trash as all entries there are named.
func (s *State) trashed(run, what string) string {
	return filepath.Join(s.Trash(), fmt.Sprintf("%d-%s-%s", time.Now().Unix(), run, what))
}

// Run is the run of exactly this id.
func (s *State) Run(id string) (*Run, error) {
	if isRunID(id) {
		r := &Run{ID: id, Dir: filepath.Join(s.runs(), id), state: s}
		switch info, err := os.Lstat(r.Dir); {
		case err == nil && info.IsDir():
			return r, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("find run %s: %w", id, err)
		}
	}
	return nil, s.missing(id, nil)
}

// Entry is a run in a listing.
type Entry struct {
	Run      *Run
	Identity Identity
	// Damage is set where run.json could not be used; Identity then holds
	// the id and the time of the folder.
	Damage error
}

// Runs lists the runs of the repository, the newest last. A damaged run is
// listed and hides no other.
func (s *State) Runs() ([]Entry, error) {
	files, err := os.ReadDir(s.runs())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var all []Entry
	for _, f := range files {
		if !f.IsDir() || !isRunID(f.Name()) {
			continue
		}
		e := Entry{Run: &Run{ID: f.Name(), Dir: filepath.Join(s.runs(), f.Name()), state: s}}
		if e.Identity, e.Damage = e.Run.Identity(); e.Damage != nil {
			info, err := f.Info()
			if errors.Is(err, os.ErrNotExist) {
				continue // removed while we read
			}
			if err == nil {
				e.Identity = Identity{Run: f.Name(), Created: info.ModTime().UTC()}
			}
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return a.Identity.Created.Compare(b.Identity.Created)
	})
	return all, nil
}

// Remove moves the run's folder to the trash and says where. A run that has
// an owner is a [*BusyError].
func (r *Run) Remove(ctx context.Context) (to string, err error) {
	lock, err := r.take(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock(lock), lock.Close()) }()
	if err := makeFolder(r.state.Trash()); err != nil {
		return "", err
	}
	to = r.state.trashed(r.ID, "run")
	if err := os.Rename(r.Dir, to); err != nil {
		return "", fmt.Errorf("remove run %s: %w", r.ID, err)
	}
	return to, errors.Join(syncFolder(filepath.Dir(to)), syncFolder(filepath.Dir(r.Dir)))
}
