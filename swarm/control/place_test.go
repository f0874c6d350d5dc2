package control

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"

	"agentswarm/swarm/store"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := short(t)
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Symlink(dir, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	foreign := "/"
	if os.Getuid() == 0 {
		foreign = filepath.Join(dir, "foreign")
		if err := errors.Join(os.Mkdir(foreign, 0o700), os.Chown(foreign, 65534, -1)); err != nil {
			t.Fatal(err)
		}
	}
	// The state is in /tmp, too, so that all of /tmp is closed to agents without mounts.
	state := &store.State{Dir: filepath.Join(dir, "state", "repo")}
	own := filepath.Join(dir, "state", "sockets")
	for give, want := range map[string]string{
		dir: filepath.Join(dir, "swarm"), "": own, "relative": own,
		link: own, file: own, foreign: own, filepath.Join(dir, "none"): own,
	} {
		if got := candidates(state, in(give)); got[0] != want || got[len(got)-1] != spare() {
			t.Errorf("candidates(%q) = %q, want %s and %s", give, got, want, spare())
		}
	}
	if all := Folders(in(dir)); all[0] != filepath.Join(dir, "swarm") || all[len(all)-1] != spare() {
		t.Errorf("folders = %v", all)
	}
}

// TestFolderOpenToAgents: agents without mounts write to /tmp. A run-time folder
// there is not used while the state has room for sockets elsewhere.
func TestFolderOpenToAgents(t *testing.T) {
	t.Parallel()
	runtime := short(t)
	long := filepath.Join("/elsewhere", strings.Repeat("x", longest))
	for state, want := range map[string]string{
		"/elsewhere/state":                  "/elsewhere/state/sockets",
		filepath.Join(runtime, "state"):     filepath.Join(runtime, "swarm"),
		long:                                filepath.Join(runtime, "swarm"),
		filepath.Join(os.TempDir(), "else"): filepath.Join(runtime, "swarm"),
	} {
		if got := candidates(&store.State{Dir: filepath.Join(state, "repo")}, in(runtime))[0]; got != want {
			t.Errorf("with the state in %s, sockets go to %s, want %s", state, got, want)
		}
	}
}

// TestListenElsewhere: where the file system of the state has no sockets, the next
// folder is used, also for the sockets of attempts and by who looks for them.
func TestListenElsewhere(t *testing.T) {
	t.Parallel()
	o, runtime := owned(t), short(t)
	first, second := filepath.Join(runtime, "no"), filepath.Join(runtime, "swarm")
	refuse := func(path string) (*net.UnixListener, error) {
		if filepath.Dir(path) == first {
			return nil, syscall.EOPNOTSUPP
		}
		return listen(path)
	}
	path, l, err := listenIn([]string{first, second}, o.Run, refuse)
	if err != nil || filepath.Dir(path) != second {
		t.Fatalf("listenIn = %s, %v", path, err)
	}
	defer l.Close()
	if got := Folder(o.Run, in(runtime)); got != second {
		t.Errorf("Folder = %s, want %s", got, second)
	}
	if _, _, err := listenIn([]string{first}, o.Run, refuse); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("listenIn of no folder with sockets = %v", err)
	}
	// The run-time folder would be best: an existing socket decides.
	state := filepath.Join(filepath.Dir(o.Run.State().Dir), "sockets")
	if all := candidates(o.Run.State(), in(runtime)); all[0] != second || len(all) > 1 && all[1] != state && all[1] != spare() {
		t.Errorf("candidates = %q", all)
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := short(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	made := errors.Join(
		os.Mkdir(at("ours"), 0o700), os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o750),
		os.Symlink(at("ours"), at("link")), os.WriteFile(at("file"), nil, 0o600),
	)
	if os.Getuid() == 0 {
		made = errors.Join(made, os.Mkdir(at("theirs"), 0o700), os.Chown(at("theirs"), 65534, -1))
	}
	if made != nil {
		t.Fatal(made)
	}
	for name, want := range map[string]string{
		"ours": "", "new": "", "open": "mode 0750", "link": "symbolic link", "file": "not a folder",
		"theirs": "belongs to user 65534", "none/new": "cannot be made",
	} {
		if name == "theirs" && os.Getuid() != 0 {
			continue
		}
		err := prepare(at(name))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("prepare(%s) = %v, want %q", name, err, want)
		}
		if _, typed := errors.AsType[*PlaceError](err); err != nil && !typed {
			t.Errorf("prepare(%s) = %T", name, err)
		}
	}
	if info, err := os.Stat(at("new")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a new folder is %v, %v", info, err)
	}
}

func TestUnsafePlaces(t *testing.T) {
	t.Parallel()
	o := owned(t)
	long := filepath.Join(short(t), strings.Repeat("x", 80))
	open := short(t)
	if err := errors.Join(os.Mkdir(long, 0o700), os.Mkdir(filepath.Join(open, "swarm"), 0o700), os.Chmod(filepath.Join(open, "swarm"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if got := candidates(o.Run.State(), in(long))[0]; strings.HasPrefix(got, long) {
		t.Errorf("sockets go to %s, which has no room for their names", got)
	}
	for _, runtime := range []string{open} {
		_, err := Listen(t.Context(), o, &target{}, in(runtime))
		if _, ok := errors.AsType[*PlaceError](err); !ok {
			t.Errorf("Listen in %s = %v", runtime, err)
		}
		if _, err = Dial(t.Context(), o.Run, in(runtime)); err == nil || isGone(err) {
			t.Errorf("Dial in %s = %v", runtime, err)
		}
		if _, ok := errors.AsType[*PlaceError](Check(o.Run.State(), in(runtime))); !ok {
			t.Errorf("Check of %s found nothing", runtime)
		}
	}
	if err := os.Remove(long); err != nil {
		t.Errorf("a refused folder was used: %v", err)
	}
}

func TestSocketsOfTwoStatesDiffer(t *testing.T) {
	t.Parallel()
	a, b := *owned(t).Run, *owned(t).Run
	a.ID = b.ID
	one, err := socket("/d", &a)
	two, err2 := socket("/d", &b)
	if err != nil || err2 != nil || one == two {
		t.Errorf("socket = %s, %v and %s, %v", one, err, two, err2)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, r := range []Request{
		&Ping{}, &Stop{Reason: "r"}, &Cancel{Agents: []task.ID{"a1"}, Cause: task.CauseStopped, Reason: "r"},
		&Retry{Agents: []task.ID{"a1"}, Feedback: "f"}, &Send{Agent: "a1", Text: "t"}, &Attach{Agent: "a1"},
		&Answer{ID: "x-1", Shown: "d1", For: task.Once}, &Review{Marks: []event.Reviewed{{Agent: "a1", Attempt: 1, Verdict: task.Accepted}}},
	} {
		line, err := encodeRequest(r, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"verb":"cancel","agents":["a1",null]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := decodeRequest(line)
		if err != nil {
			return
		}
		if c, ok := r.(*Cancel); ok && (len(c.Agents) == 0 || c.Cause == "") {
			t.Fatalf("%q asks for everybody", line)
		}
		text, err := encodeRequest(r, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeRequest(text)
		if err != nil || again.verb() != r.verb() {
			t.Fatalf("%q became %q: %v", line, text, err)
		}
	})
}

func FuzzDecodeReply(f *testing.F) {
	f.Add([]byte(`{"ok":true,"run":"k3x9q2","pid":7}`))
	f.Add([]byte(`{"ok":false,"error":{"kind":"refused","message":"m"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := decodeReply(line); err == nil && !r.OK && r.Error == nil {
			t.Fatalf("%q is neither", line)
		}
	})
}

// TestRoom has folders for sockets just too long and just short enough: a
// folder taken for sockets must have room for a socket.
func TestRoom(t *testing.T) {
	t.Parallel()
	o := owned(t)
	top := short(t)
	for n := len(top) + 2; n <= longest; n++ {
		runtime := top + "/" + strings.Repeat("x", n-len(top)-1)
		if err := os.Mkdir(runtime, 0o700); err != nil {
			t.Fatal(err)
		}
		if path, err := socket(candidates(o.Run.State(), in(runtime))[0], o.Run); err != nil || len(path)+len(".a1000000.100/s")-len(".sock") >= longest {
			t.Errorf("a folder of %d bytes: %v", n, err)
		}
	}
}

// TestClear removes the sockets of a run, and those of no other.
func TestClear(t *testing.T) {
	t.Parallel()
	runtime, err := os.MkdirTemp("", "c") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	getenv := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return runtime
		}
		return ""
	}
	state := store.Open(filepath.Join(t.TempDir(), "state"), "repo", "/repo")
	var runs []*store.Run
	for range 2 {
		run, owner, err := state.Create(store.Identity{Base: store.Base{Commit: "c", Tree: "t", Kind: store.BaseHead}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = owner.Close() })
		dir, err := AskFolder(run, "a1.1", getenv)
		if err != nil {
			t.Fatal(err)
		}
		again, err := AskFolder(run, "a1.1", getenv) // the files of a dead owner are no harm
		if err != nil || again != dir || len(dir) > longest-2 {
			t.Fatalf("AskFolder = %s, %v, then %s", dir, err, again)
		}
		if err := os.WriteFile(filepath.Join(dir, "s"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if err := Clear(runs[0], getenv); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(runtime, "swarm", "*"))
	if len(left) != 1 || !strings.Contains(left[0], runs[1].ID) {
		t.Errorf("left are %v", left)
	}
}
