package engine

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Parent is an agent whose conversation another agent continues.
type Parent struct {
	ID      task.ID
	Attempt int
	Session string // the id of the conversation in its kind
	Usage   task.Usage
}

// ErrNoParent refuses to go on with a conversation that there is not.
var ErrNoParent = errors.New("there is no conversation to continue")

// parentOf returns the agent whose conversation a call continues; nil: a new
// conversation.
func (e *Engine) parentOf(call *task.Call) *Parent {
	in, ok := call.Input.(*task.ForkAgentInput)
	if !ok || e.agents[in.Parent] == nil || e.agents[in.Parent].result == nil {
		return nil
	}
	done := e.agents[in.Parent].result.Done()
	return &Parent{ID: in.Parent, Attempt: cmp.Or(done.SessionAttempt, done.Attempts), Session: done.Session, Usage: done.Conversation}
}

// used returns the usage of the conversation so far; zero for a new
// conversation.
func (p *Parent) used() task.Usage {
	if p == nil {
		return task.Usage{}
	}
	return p.Usage
}

// The folders of an attempt that hold the agent's own files.
const (
	stateName   = "state"   // below the box: all of it, while the attempt runs
	sessionName = "session" // beside it: the kept files for an agent that continues the conversation
)

// state returns the folder for the agent's own state, including its login. It
// is removed with the box.
func (t *attempt) state() string { return stateOf(t.dir) }

func stateOf(attempt string) string { return filepath.Join(BoxOf(attempt), stateName) }

// kind returns the agent's kind; nil for a command.
func (t *attempt) kind() *agent.Kind {
	kind, ok := t.engine.deps.Kinds[t.spec.Kind]
	if !ok || kind.Name == agent.KindCommand {
		return nil
	}
	return &kind
}

// quietest bounds the silence of an agent other than a command without a
// configured bound: some wait for ever for a network that is gone.
const quietest = 20 * time.Minute

// suit fits the agent's spec to its kind.
func (t *attempt) suit() {
	kind := t.kind()
	if kind == nil {
		return
	}
	named := t.engine.config.Agents[t.call.Agent]
	switch {
	case t.call.Limits.Idle > 0, named != nil && named.IdleTimeout > 0:
	case t.spec.IdleTimeout == 0:
		t.spec.IdleTimeout = max(quietest, kind.Quiet)
	default:
		t.spec.IdleTimeout = max(t.spec.IdleTimeout, kind.Quiet)
	}
}

// stall bounds the silence of a stream of the agent's model. A command reports
// nothing of its tools.
func (t *attempt) stall(kind *agent.Kind) time.Duration {
	if kind.Name == agent.KindCommand {
		return 0
	}
	return cmp.Or(kind.Stall, agent.Stall)
}

// request builds the request of the current round for the agent. If its kind
// keeps state, request makes the state folder and puts the continued
// conversation into it.
func (t *attempt) request() (agent.Request, error) {
	r := agent.Request{
		Spec: t.spec, Prompt: t.rounds.prompt, Schema: t.call.Schema,
		PromptFile: t.file("prompt"), Command: t.call.Command,
	}
	kind := t.kind()
	if kind == nil {
		return r, nil
	}
	d := t.engine.deps
	r.State, r.Walled = t.state(), d.Walled
	if kind.Name == agent.KindBuiltin {
		r.Command = slices.Concat([]string{d.Self}, kind.Spec.Command)
	}
	r.Dir = t.space.Path()
	r.Session = sessionID(d.Run.ID, t.id, t.n, t.rounds.n)
	if t.askAddress != "" {
		r.Hook = []string{d.Self, "hook"}
	}
	if kind.Login != nil {
		r.Login = kind.Login(d.Surroundings)
	}
	if err := t.open(&r, kind); err != nil {
		return r, err
	}
	if err := os.MkdirAll(r.State, 0o700); err != nil {
		return r, fmt.Errorf("make the state folder of an agent: %w", err)
	}
	if t.parent == nil {
		return r, nil
	}
	r.Parent = t.parent.Session
	from := filepath.Join(d.Run.Attempt(t.parent.ID, t.parent.Attempt), sessionName)
	err := copySession(from, r.State, []string{"."})
	if _, gone := os.Lstat(from); err == nil && errors.Is(gone, fs.ErrNotExist) && len(kind.Sessions) > 0 {
		err = ErrNoParent // it could not be kept
	}
	if err != nil {
		return r, fmt.Errorf("continue the conversation of %s: %w", t.parent.ID, err)
	}
	return r, nil
}

// addressOf returns the search for the server of an agent's model in the set-up of
// its user; it finds "" where that names none.
func addressOf(d Deps, spec *agent.Spec) func() string {
	return func() string {
		login := d.Kinds[spec.Kind].Login
		if login == nil || d.Surroundings.Getenv == nil || d.Surroundings.Read == nil {
			return ""
		}
		return login(d.Surroundings.With(spec.Env)).Address(spec.Model)
	}
}

// variable is the value of a variable in an environment; empty where it is not
// there.
func variable(environ []string, name string) string {
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// keepSession copies the conversation of an attempt, with its files in dir, to
// a place from which another agent can continue it. A failure only causes a
// warning.
func keepSession(d Deps, id task.ID, kind agent.Kind, dir string) {
	if len(kind.Sessions) == 0 {
		return
	}
	to := filepath.Join(dir, sessionName)
	err := os.RemoveAll(to) // of an earlier round
	if err == nil {
		err = copySession(stateOf(dir), to, kind.Sessions)
	}
	if err != nil {
		// Half a conversation would be continued as if it were whole.
		err = errors.Join(err, os.RemoveAll(to))
		d.Warn(fmt.Sprintf("%s: its conversation cannot be kept, so it cannot be continued: %v", id, err))
	}
}

// keepLeft does so for an attempt whose owner died before it kept the
// conversation. It then records the end of an agent that had answered, while
// the whole conversation is there.
func keepLeft(d Deps, c Config, a *store.Agent) error {
	if a.Attempt == 0 || a.Round == nil || a.Pending() || a.Result() != nil || a.Exit != nil {
		return nil
	}
	dir := d.Run.Attempt(a.ID, a.Attempt)
	if _, err := os.Lstat(stateOf(dir)); err == nil { // else it was kept before its state went, or cannot be
		keepSession(d, a.ID, d.Kinds[SpecThen(c, a).Kind], dir)
	}
	return endAnswered(d, c, a)
}

// keptSession removes the conversation from an agent's outcome if its files
// were not kept.
func keptSession(kind agent.Kind, dir string, o *agent.Outcome) {
	if _, gone := os.Lstat(filepath.Join(dir, sessionName)); gone != nil && len(kind.Sessions) > 0 {
		o.Session = ""
	}
}

// addRecorded adds the usage that an agent did not report to its outcome, where its
// kind writes it to the conversation, which was kept in dir by then. Usage that
// cannot be read counts as not spent. Nil: there was none to add.
func addRecorded(kind agent.Kind, spec *agent.Spec, dir string, o *agent.Outcome) *event.Spent {
	root, err := os.OpenRoot(filepath.Join(dir, sessionName))
	if err != nil {
		return nil // no conversation was kept
	}
	defer root.Close()
	spent, _ := agent.Recorded(kind.Adapter, spec, root.FS(), o)
	return spent
}

// maxSession bounds the kept files of a conversation, in bytes.
const maxSession = 256 << 20

// copySession copies the regular files that globs name in a folder, and all
// files below the named folders, into another folder. The folders belong to an
// agent, so links are not followed.
func copySession(from, to string, globs []string) error {
	// The agent may have put a link in place of its folder.
	if info, err := os.Lstat(from); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Base(from))
	}
	source, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	sink, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer sink.Close()
	left := int64(maxSession)
	for _, glob := range globs {
		names, err := fs.Glob(source.FS(), glob)
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			if info, err := source.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				continue
			}
			if err := copyBelow(source, sink, name, &left); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyBelow(source, sink *os.Root, top string, left *int64) error {
	return fs.WalkDir(source.FS(), top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return sink.MkdirAll(name, 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		if err := sink.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return copyOne(source, sink, name, left)
	})
}

func copyOne(source, sink *os.Root, name string, left *int64) (err error) {
	in, err := source.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := sink.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, *left+1))
	if *left -= n; err == nil && *left < 0 {
		err = fmt.Errorf("it takes more than %d MiB", maxSession>>20)
	}
	return errors.Join(err, out.Close())
}

// sessionID is the id of a conversation for agents that let swarm choose it: a
// UUID that is always the same for a round of an attempt.
func sessionID(run string, id task.ID, attempt, round int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "swarm %s %s %d %d", run, id, attempt, round))
	sum[6] = sum[6]&0x0f | 0x40 // version 4 (RFC 9562): some CLIs know none above 5
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
