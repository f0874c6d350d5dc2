package apparmor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/gocache"
)

// Action is an operation on a profile. The zero value changes nothing.
type Action int

const (
	// Inspect returns the profile and its state.
	Inspect Action = iota
	// Install loads the profile and writes its file, which the next start of
	// the system loads.
	Install
	// Remove unloads the profile and removes its file.
	Remove
)

// Change is the effect of an action.
type Change int

const (
	// Unchanged means that no file was written or removed.
	Unchanged Change = iota
	// Installed means that there was no file before.
	Installed
	// Replaced means that the file had other content before.
	Replaced
	// Removed means that the profile is unloaded and its file is gone.
	Removed
)

// String returns the change's word.
func (c Change) String() string {
	switch c {
	case Unchanged:
		return "none"
	case Installed:
		return "installed"
	case Replaced:
		return "replaced"
	case Removed:
		return "removed"
	default:
		return fmt.Sprintf("change(%d)", int(c))
	}
}

// Request is an action on the profile of a program.
type Request struct {
	Action  Action
	Program string // required: the running program; symbolic links are followed
	State   string // required: the folder of all state, free of symbolic links
	User    int    // the id of the user who runs the program
	Machine Machine
}

// Result is a profile and its state after an action.
type Result struct {
	*Profile
	Program string // free of symbolic links
	File    string // the place of the profile, whether or not it is installed
	Change  Change
	// Installed is true if the file has exactly the profile's text.
	Installed bool
	// Loaded is nil if the kernel does not tell whether it has the profile.
	Loaded *bool
	// Weaknesses let users other than root and the request's user replace a
	// program to which the profile is attached.
	Weaknesses []Weakness
}

// Setup carries out a request. A [*PathError], [*UnavailableError] or
// [*ExposedError] is a refusal: nothing was changed.
func Setup(ctx context.Context, r Request) (*Result, error) {
	program, err := filepath.EvalSymlinks(r.Program)
	if err != nil {
		return nil, fmt.Errorf("find the running program: %w", err)
	}
	p, err := New(program, r.State)
	if err != nil {
		return nil, err
	}
	done := &Result{Profile: p, Program: program, File: r.Machine.file(p)}
	for _, path := range []string{program, r.State} {
		for _, w := range weaknesses(path, r.User) {
			if !slices.Contains(done.Weaknesses, w) { // both lie below the same folders
				done.Weaknesses = append(done.Weaknesses, w)
			}
		}
	}
	switch r.Action {
	case Inspect:
	case Install:
		done.Change, err = r.Machine.install(ctx, p, done.Weaknesses)
	case Remove:
		done.Change, err = r.Machine.remove(ctx, p)
	default:
		panic(fmt.Sprintf("unhandled action %d", r.Action))
	}
	if err != nil {
		return nil, err
	}
	text, err := r.Machine.read(p)
	done.Installed = err == nil && text == p.Text
	done.Loaded = r.Machine.loaded(p)
	return done, nil
}

// install loads the profile before its file gets its name. A profile that the
// parser refuses is therefore never left for the next start of the system.
func (m Machine) install(ctx context.Context, p *Profile, found []Weakness) (Change, error) {
	if err := m.Available(); err != nil {
		return Unchanged, err
	}
	if m.Parser == "" {
		return Unchanged, noParser()
	}
	for _, w := range found {
		if w.Who == everyone {
			return Unchanged, &ExposedError{w}
		}
	}
	before, err := m.read(p)
	if err != nil {
		return Unchanged, err
	}
	file, err := m.write(p)
	if err != nil {
		return Unchanged, fmt.Errorf("write AppArmor profile: %w", err)
	}
	if err := m.parse(ctx, "--replace", file); err != nil {
		return Unchanged, errors.Join(fmt.Errorf("load AppArmor profile: %w", err), os.Remove(file))
	}
	if err := os.Rename(file, m.file(p)); err != nil {
		return Unchanged, errors.Join(fmt.Errorf("install AppArmor profile: %w", err), os.Remove(file))
	}
	change := Replaced
	switch before {
	case "":
		change = Installed
	case p.Text:
		change = Unchanged
	}
	return change, m.sync()
}

// remove unloads the profile and removes its file. Either may be missing: a
// kernel without AppArmor has no profiles, and somebody may have removed the
// file of a loaded one.
func (m Machine) remove(ctx context.Context, p *Profile) (Change, error) {
	before, err := m.read(p)
	if err != nil {
		return Unchanged, err
	}
	installed, loaded := before != "", m.loaded(p)
	unload := loaded != nil && *loaded || loaded == nil && installed && exists(m.Kernel)
	if !installed && !unload {
		return Unchanged, nil
	}
	file := m.file(p)
	if !installed { // the parser reads the profile's name from a file
		if file, err = m.write(p); err != nil {
			return Unchanged, fmt.Errorf("write AppArmor profile: %w", err)
		}
	}
	if unload {
		err = m.parse(ctx, "--remove", file)
	}
	if err == nil || !installed { // after an error the file allows another try
		err = errors.Join(err, os.Remove(file))
	}
	if err != nil {
		return Unchanged, fmt.Errorf("remove AppArmor profile: %w", err)
	}
	return Removed, m.sync()
}

// Remedy returns the user's command to install the profile: [Command], or first
// a build if `go run` made the program, which is gone when it ends.
func Remedy(program string, getenv func(string) string) string {
	if gocache.Temporary(program) {
		return buildCommand + " && sudo FOLDER/swarm setup apparmor"
	}
	return Command(program, getenv)
}

// Command returns the shell command by which an ordinary user installs the
// profile. Sudo drops the variables that name the state folder, so env sets
// them again.
func Command(program string, getenv func(string) string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	words := []string{"sudo"}
	for _, name := range []string{"SWARM_STATE_DIR", "XDG_STATE_HOME"} {
		if value := getenv(name); filepath.IsAbs(value) {
			words = append(words, "env", shellWord(name+"="+value))
			break // the first variable decides, as in store.Root
		}
	}
	return strings.Join(append(words, shellWord(program), "setup", "apparmor"), " ")
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(word string) string {
	special := func(r rune) bool {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+=:@%", r)
		return !plain
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
