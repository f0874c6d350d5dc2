package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

// Machine finds the programs and logins of agents on this machine, with the
// environment of a user.
type Machine struct {
	Kinds   List
	Getenv  func(string) string // required
	Environ []string
	Self    string // program of swarm, which is that of the built-in agent
	// Providers returns the configured providers; nil: there are none.
	Providers func() map[string]provider.Provider
}

// WithProviders returns the kinds, of which the built-in agent can ask more
// providers.
func (l List) WithProviders(more map[string]provider.Provider) List {
	if len(more) == 0 {
		return l
	}
	l = slices.Clone(l)
	for i := range l {
		if l[i].Name == agent.KindBuiltin {
			l[i].Login, l[i].Unnamed = command.Endpoints(more), command.Unnamed(more)
		}
	}
	return l
}

// Priced returns the kinds that a run can start, by name, with that of commands. They
// compute the costs of agents that report none.
func (l List) Priced(prices *roles.Prices) map[string]agent.Kind {
	price := func(model string, u task.Usage) (float64, bool) {
		p, ok := prices.Of(model)
		if !ok {
			return 0, false
		}
		return p.Cost(roles.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	all := l.ByName()
	all[agent.KindCommand] = command.Kind()
	for name, k := range all {
		k.Adapter = agent.Priced(k.Adapter, price)
		all[name] = k
	}
	return all
}

// Found returns the state of each kind on this machine.
func (m *Machine) Found() []Found {
	all := m.Kinds
	if m.Providers != nil {
		all = all.WithProviders(m.Providers())
	}
	return all.Look(LookRequest{
		Surroundings: m.Surroundings(), Self: m.Self,
		Path: func(name string) string { return FindProgram(m.Getenv("PATH"), name) },
	})
}

// Surroundings returns the environment in which an agent finds its login.
func (m *Machine) Surroundings() agent.Surroundings {
	return agent.Surroundings{Getenv: m.Getenv, Home: m.Getenv("HOME"), Read: readSetup}
}

// SurroundingsOf is [Machine.Surroundings] with the variables of an agent's own.
func (m *Machine) SurroundingsOf(spec *agent.Spec) agent.Surroundings {
	return m.Surroundings().With(spec.Env)
}

// SearchPath returns the PATH of an agent with variables of its own.
func (m *Machine) SearchPath(own map[string]string) string {
	if path, ok := own["PATH"]; ok && !strings.HasPrefix(path, "$") {
		return path
	}
	return m.Getenv("PATH")
}

// Executable reports whether a regular file with an executable bit is at path.
func Executable(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.Mode().IsRegular() && stat.Mode()&0o111 != 0
}

// FindProgram returns the path of a program in the folders of search; "" if there is
// none. It passes over relative folders: their meaning depends on the working folder.
func FindProgram(search, name string) string {
	for _, dir := range filepath.SplitList(search) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && Executable(file) {
			return file
		}
	}
	return ""
}

// maxSetup bounds a file of an agent's own set-up, in bytes.
const maxSetup = 1 << 20

// readSetup reads a regular file. A pipe could block the reader.
func readSetup(name string) (_ []byte, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	stat, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", name)
	case stat.Size() > maxSetup:
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxSetup)
	}
	return io.ReadAll(io.LimitReader(f, maxSetup))
}

// ProgramOf returns the program of its kind that an agent starts. ok is false if the
// agent starts another.
func (m *Machine) ProgramOf(spec *agent.Spec) (f Found, ok bool) {
	for _, f := range m.Found() {
		if f.Name == spec.Kind && f.Program != "" && len(spec.Command) == 1 && spec.Command[0] == f.Path {
			return f, true
		}
	}
	return Found{}, false
}

// ProgramEnviron returns the variables of an environment that the program of a kind
// gets. They are those of its agents.
func ProgramEnviron(f *Found, all []string) []string {
	passed, _ := environ.Rules{Needs: f.Login.Env, Settings: f.Kind.Variables}.Select(all)
	return passed
}

// versionTime bounds the wait for a program's version. Some take seconds to start.
const versionTime = 10 * time.Second

// Version asks a program for its version; "" if it says none. The error is the reason
// why it did not answer.
func (m *Machine) Version(ctx context.Context, f Found) (string, error) {
	if f.Program == "" || !f.Here() || len(f.Version.Args) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	said, err := proc.Query(ctx, proc.QueryRequest{
		Argv: append([]string{f.Path}, f.Version.Args...), Env: ProgramEnviron(&f, m.Environ), Dir: "/",
	})
	version := Version(said)
	if version == "" && err != nil {
		return "", unanswered(ctx, err)
	}
	return version, nil
}

// unanswered returns the reason why a program did not say its version, in a line.
func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("it did not say it within %s, as on a machine that is busy", versionTime)
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// VersionOf asks the program of an agent for its version; "" if it says none, and for
// a program that is not that of its kind.
func (m *Machine) VersionOf(ctx context.Context, spec *agent.Spec) string {
	f, known := m.ProgramOf(spec)
	if !known {
		return ""
	}
	version, _ := m.Version(ctx, f)
	return version
}

// Versioned is a kind on this machine with the version of its program.
type Versioned struct {
	Found
	Said string // the version; empty: not known
	Err  error  // why the program did not answer
}

// Versions asks all installed programs for their versions, at once.
func (m *Machine) Versions(ctx context.Context) map[string]Versioned {
	all := map[string]Versioned{}
	var mu sync.Mutex // guards all
	var asking sync.WaitGroup
	for _, f := range m.Found() {
		asking.Go(func() {
			said, err := m.Version(ctx, f)
			mu.Lock()
			defer mu.Unlock()
			all[f.Name] = Versioned{Found: f, Said: said, Err: err}
		})
	}
	asking.Wait()
	return all
}

// MissingProgramError is an agent whose program is not installed.
type MissingProgramError struct{ Agent, Program, Install string }

func (e *MissingProgramError) Error() string {
	return fmt.Sprintf("agent %s: %s is not installed", e.Agent, e.Program)
}

// Hint returns the command that installs the program.
func (e *MissingProgramError) Hint() string { return e.Install }

// FindCommand sets the command of an agent to the program of its kind. The error is a
// [*MissingProgramError].
func (m *Machine) FindCommand(spec *agent.Spec) error {
	kind, _ := m.Kinds.Find(spec.Kind)
	if kind.Program == "" {
		spec.Command = []string{m.Self}
		return nil
	}
	path := FindProgram(m.SearchPath(spec.Env), kind.Program)
	if path == "" {
		return &MissingProgramError{spec.Name, kind.Program, kind.Install}
	}
	spec.Command = []string{path}
	return nil
}

// Moved is an agent whose program is now elsewhere.
type Moved struct{ Agent, Was, Now string }

// FindMoved finds the programs of a run's agents that are no longer at their paths, as
// after an update by a version manager. The error is a [*MissingProgramError] of an
// agent that a call needs.
func (m *Machine) FindMoved(agents map[string]*agent.Spec, calls []*task.Call) (all []Moved, err error) {
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		spec := agents[name]
		kind, known := m.Kinds.Find(spec.Kind)
		if !known || len(spec.Command) != 1 || !filepath.IsAbs(spec.Command[0]) || Executable(spec.Command[0]) {
			continue
		}
		was := spec.Command[0]
		if kind.Program != "" && filepath.Base(was) != kind.Program {
			continue // the user configured this path
		}
		if err := m.FindCommand(spec); err != nil {
			if slices.ContainsFunc(calls, func(c *task.Call) bool { return c.Agent == name }) {
				return all, err
			}
			continue
		}
		all = append(all, Moved{name, was, spec.Command[0]})
	}
	return all, nil
}

// InstallCommands returns a line for each kind that is missing, with the command that
// installs it: the most common first, the built-in agent last.
func InstallCommands(all []Found) []string {
	rank := func(f Found) int {
		switch f.Name {
		case agent.KindClaude:
			return 0
		case agent.KindCodex:
			return 1
		case agent.KindBuiltin:
			return 3
		default:
			return 2
		}
	}
	var lines []string
	for _, f := range slices.SortedStableFunc(slices.Values(all), func(a, b Found) int { return rank(a) - rank(b) }) {
		switch {
		case f.Program == "" && f.Login.Name == "" && f.Login.Missing != "":
			lines = append(lines, f.Name+": "+f.Login.Missing)
		case f.Path == "":
			lines = append(lines, f.Name+": "+f.Install)
		}
	}
	return lines
}

// Names returns the names of kinds, sorted.
func Names(all []Found) string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
