package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// scratch is a state of a repository that does not exist.
func scratch(t *testing.T) *State {
	t.Helper()
	return Open(t.TempDir(), "repo", "/nowhere/repo/.git")
}

// created is a new run, owned by the test.
func created(t *testing.T, s *State) (*Run, *Owner) {
	t.Helper()
	r, o, err := s.Create(Identity{Version: "v", Workflow: Workflow{Kind: WorkflowPrompt, Text: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, o) })
	return r, o
}

func mustClose(t *testing.T, o *Owner) {
	t.Helper()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func mustAppend(t *testing.T, o *Owner, events ...event.Event) {
	t.Helper()
	if _, err := o.AppendAll(events); err != nil {
		t.Fatal(err)
	}
}

// called is a call with a label.
func called(n int, label string) *event.Called {
	return &event.Called{Agent: task.AgentID(n), Call: &task.Call{
		Input: &task.TypedAgentInput{Prompt: "p"}, Label: label,
	}}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	home, shared, blocked := resolved(t.TempDir()), resolved(t.TempDir()), filepath.Join(t.TempDir(), "file")
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(blocked, nil, 0o600), os.Symlink(home, link)); err != nil {
		t.Fatal(err)
	}
	fallback := filepath.Join(shared, fmt.Sprintf("swarm-%d", os.Geteuid()))
	for _, test := range []struct {
		name string
		give map[string]string
		want string
	}{
		{"swarm first", map[string]string{"SWARM_STATE_DIR": "/s/", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"},
		{"then xdg", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/swarm"},
		{"relative xdg is ignored", map[string]string{"XDG_STATE_HOME": "x", "HOME": home}, home + "/.local/state/swarm"},
		{"then home", map[string]string{"HOME": home}, home + "/.local/state/swarm"},
		{"a home that is not there yet", map[string]string{"HOME": home + "/a/b"}, home + "/a/b/.local/state/swarm"},
		{"a link", map[string]string{"SWARM_STATE_DIR": link}, home},
		{"a link above a folder that is not there yet", map[string]string{"SWARM_STATE_DIR": link + "/a/b"}, home + "/a/b"},
		{"xdg below a link", map[string]string{"XDG_STATE_HOME": link}, home + "/swarm"},
		{"a home that is a link", map[string]string{"HOME": link}, home + "/.local/state/swarm"},
		{"relative swarm", map[string]string{"SWARM_STATE_DIR": "s", "HOME": "/h"}, ""},
		{"no home", nil, fallback},
		{"a relative home", map[string]string{"HOME": "h"}, fallback},
		{"a home where nothing can be made", map[string]string{"HOME": blocked}, fallback},
	} {
		got, err := rootIn(func(key string) string { return test.give[key] }, shared)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: Root = %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestRootOfOthers: a fallback that others can enter, or that leads elsewhere,
// is refused.
func TestRootOfOthers(t *testing.T) {
	t.Parallel()
	shared := resolved(t.TempDir())
	fallback := filepath.Join(shared, fmt.Sprintf("swarm-%d", os.Geteuid()))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(shared, link); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	if err := os.Mkdir(fallback, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := rootIn(none, shared); err != nil || got != fallback {
		t.Fatalf("an own folder is %s, %v", got, err)
	}
	if got, err := rootIn(none, link); err != nil || got != fallback {
		t.Errorf("an own folder below a link is %s, %v", got, err)
	}
	if err := os.Chmod(fallback, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := rootIn(none, shared); err == nil || !strings.Contains(err.Error(), "SWARM_STATE_DIR") {
		t.Errorf("a folder that others can enter is %s, %v; want an error that names SWARM_STATE_DIR", got, err)
	}
	if err := errors.Join(os.Remove(fallback), os.Symlink(t.TempDir(), fallback)); err != nil {
		t.Fatal(err)
	}
	if got, err := rootIn(none, shared); err == nil {
		t.Errorf("a link is taken: %s", got)
	}
}

func TestOpenNamesOneFolderPerRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	real := filepath.Join(root, "real")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	s := Open(filepath.Join(root, "state"), "../my repo\xff/.", real)
	if got := Open(filepath.Join(root, "state"), "../my repo\xff/.", link).Dir; got != s.Dir {
		t.Errorf("through a link the state is %s, want %s", got, s.Dir)
	}
	if got := Open(filepath.Join(root, "state"), "../my repo\xff/.", root).Dir; got == s.Dir {
		t.Errorf("two repositories share %s", got)
	}
	if base := filepath.Base(s.Dir); !strings.HasPrefix(base, "my-repo-") || filepath.Dir(s.Dir) != filepath.Join(root, "state") {
		t.Errorf("Dir = %s, want my-repo-<hash> below the root", s.Dir)
	}
	if _, err := os.Stat(filepath.Join(root, "state")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open made something: %v", err)
	}
}

func TestNamesOfLocksDoNotMeet(t *testing.T) {
	t.Parallel()
	s := Open("/s", "r", "/c")
	seen := map[string]string{}
	for _, name := range []string{"refs/heads/a", "refs/heads-a", "refs-heads-a", "..", ".", "", "/", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		file := s.LockFile(name)
		if other, taken := seen[file]; taken {
			t.Errorf("%q and %q share %s", name, other, file)
		}
		seen[file] = name
		if filepath.Dir(file) != filepath.Join(s.Dir, "locks") || len(filepath.Base(file)) > 100 {
			t.Errorf("LockFile(%q) = %s", name, file)
		}
	}
}

func TestStateInsideTheRepositoryIsRefused(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, root string
		id         Identity
		refused    bool
	}{
		{"in the tree", filepath.Join(repo, "a/b"), Identity{TopLevel: repo}, true},
		{"is the tree's folder", repo, Identity{TopLevel: repo}, true},
		{"through a link", filepath.Join(link, "x"), Identity{TopLevel: repo}, true},
		{"in the git dir", filepath.Join(repo, ".git/s"), Identity{TopLevel: "/elsewhere", CommonDir: repo + "/.git"}, true},
		{"beside it", repo + "-state", Identity{TopLevel: repo}, false},
		{"bare", filepath.Join(t.TempDir(), "s"), Identity{CommonDir: repo}, false},
	} {
		_, o, err := Open(test.root, "r", repo).Create(test.id)
		if o != nil {
			mustClose(t, o)
		}
		_, inside := errors.AsType[*InsideError](err)
		if inside != test.refused || (err != nil) != test.refused {
			t.Errorf("%s: Create = %v, want refused: %v", test.name, err, test.refused)
		}
	}
	if files, _ := os.ReadDir(repo); len(files) != 0 {
		t.Errorf("a refused state left %v in the repository", files)
	}
	if err := os.RemoveAll(repo + "-state"); err != nil {
		t.Error(err)
	}
}

func TestCreateWritesTheIdentity(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	give := Identity{
		Version: "1", Branch: "main", CommonDir: "/r/.git", TopLevel: "/r", Prefix: "p/",
		Base:     Base{Commit: "c", Tree: "t", Kind: BaseWithChanges, SnapshotOf: "o"},
		Workflow: Workflow{Kind: WorkflowEach, Text: "w"}, Args: []string{"a"},
		Config: json.RawMessage(`{"setup":"make"}`),
	}
	r, o, err := s.Create(give)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, o)
	got, err := r.Identity()
	if err != nil {
		t.Fatal(err)
	}
	give.Schema, give.Run, give.Created = Schema, r.ID, got.Created
	var config map[string]string
	if err := json.Unmarshal(got.Config, &config); err != nil || config["setup"] != "make" {
		t.Errorf("Config = %s, %v", got.Config, err)
	}
	give.Config, got.Config = nil, nil
	if !reflect.DeepEqual(got, give) || got.Created.IsZero() {
		t.Errorf("Identity = %+v, want %+v", got, give)
	}
	if !isRunID(r.ID) || r.Dir != filepath.Join(s.Dir, "runs", r.ID) || !r.Live() {
		t.Errorf("a new run is %+v, live %v", r, r.Live())
	}
	if left, _ := os.ReadDir(s.Trash()); len(left) != 0 {
		t.Errorf("making a run left %v", left)
	}
	if _, _, err := s.Create(Identity{TopLevel: "/a\xff"}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a path that JSON would change: %v", err)
	}
}

func TestRunIDs(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"k3x9q2": true, "aaaaaa": true, "012345": false, "a12345": false, "a01234": true,
		"k3x9q": false, "k3x9q22": false, "K3x9q2": false, "k3/9q2": false, "": false, ".new-a": false,
	} {
		if got := isRunID(give); got != want {
			t.Errorf("isRunID(%q) = %v, want %v", give, got, want)
		}
	}
	seen := map[string]bool{}
	for range 1000 {
		id := newID()
		if seen[id] = true; id[0] == 'a' && strings.ContainsRune("0123456789", rune(id[1])) {
			t.Errorf("a new id is %s, which begins like an agent's", id)
		}
	}
	// Of a billion that there are two may be alike by chance, and not three times.
	if len(seen) < 998 {
		t.Errorf("1000 new ids are %d", len(seen))
	}
}

func TestRunsListsDamagedOnes(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	if all, err := s.Runs(); err != nil || len(all) != 0 {
		t.Errorf("Runs of nothing = %v, %v", all, err)
	}
	first, _ := created(t, s)
	hurt := map[string]string{
		"zzzzz1": "", "zzzzz2": "{", "zzzzz3": `{"schema":"swarm.runfile/9","run":"zzzzz3"}`,
		"zzzzz4": `{"schema":"swarm.runfile/1","run":"zzzzz1"}`,
	}
	for id, text := range hurt {
		dir := filepath.Join(s.runs(), id)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	second, _ := created(t, s)
	dateFolder(t, s, "zzzzz1", -time.Hour)
	dateFolder(t, s, "zzzzz2", -time.Hour)
	dateFolder(t, s, "zzzzz3", time.Hour)
	dateFolder(t, s, "zzzzz4", time.Hour)
	all, err := s.Runs()
	if err != nil || len(all) != 6 {
		t.Fatalf("Runs = %v, %v, want 6", all, err)
	}
	for i, e := range all {
		_, damaged := errors.AsType[*DamagedError](e.Damage)
		if _, want := hurt[e.Run.ID]; want != damaged {
			t.Errorf("%s: damage %v", e.Run.ID, e.Damage)
		}
		if i > 0 && e.Identity.Created.Before(all[i-1].Identity.Created) {
			t.Errorf("%s is out of order", e.Run.ID)
		}
	}
	if all[2].Run.ID != first.ID || all[3].Run.ID != second.ID {
		t.Errorf("the order is %v", all)
	}
}

// dateFolder sets the age of the folder of a run, by which a damaged run is
// listed. The clock of file systems goes by ticks, and may lag behind the clock
// of the other runs.
func dateFolder(t *testing.T, s *State, id string, after time.Duration) {
	t.Helper()
	at := time.Now().Add(after)
	if err := os.Chtimes(filepath.Join(s.runs(), id), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestRemoveMovesToTheTrash(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	r, o := created(t, s)
	if _, err := r.Remove(t.Context()); !isBusy(err, os.Getpid()) {
		t.Errorf("Remove of a live run = %v, want busy", err)
	}
	mustClose(t, o)
	to, err := r.Remove(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(to, "run.json")); err != nil || filepath.Dir(to) != s.Trash() {
		t.Errorf("Remove = %s: %v", to, err)
	}
	for _, name := range []string{"1-k3x9q2-run", "x-k3x9q2-run", "1-k3x9q2-a1.1"} {
		if err := os.Mkdir(filepath.Join(s.Trash(), name), 0o700); err != nil { // not runs
			t.Fatal(err)
		}
	}
	if all, err := s.Trashed(); err != nil || len(all) != 1 || all[0].Run != r.ID || all[0].Path != to || all[0].Time.IsZero() {
		t.Errorf("Trashed = %v, %v, want %s", all, err, to)
	}
	if r.Live() {
		t.Error("a removed run is live")
	}
	if _, err := r.Own(t.Context()); err == nil {
		t.Error("a removed run has an owner")
	}
	if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("owning a removed run brought its folder back: %v", err)
	}
}

func TestOnlyTheUserMayRead(t *testing.T) {
	t.Parallel()
	s := Open(filepath.Join(t.TempDir(), "deep", "root"), "repo", "/nowhere")
	c := play(t, "umask", &Run{ID: "-", state: s})
	c.end(t)
	files := 0
	err := filepath.WalkDir(filepath.Dir(s.Dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		want := fs.FileMode(0o600)
		if d.IsDir() || d.Name() == "swarm" {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil || files < 12 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

func TestBinaryIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build, err := Build(exe)
	if err != nil {
		t.Fatal(err)
	}
	keep := func() os.FileInfo {
		path, err := s.Binary(build, exe)
		if err != nil {
			t.Fatal(err)
		}
		if path != s.Bin(build) {
			t.Errorf("Binary = %s, want %s", path, s.Bin(build))
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := keep()
	if !os.SameFile(first, keep()) {
		t.Error("the binary was copied again")
	}
	if got, err := Build(s.Bin(build)); err != nil || got != build {
		t.Errorf("Build of the copy = %s, %v, want %s", got, err, build)
	}
	if err := os.Truncate(s.Bin(build), 100); err != nil {
		t.Fatal(err)
	}
	if again := keep(); again.Size() != first.Size() {
		t.Errorf("a changed binary was kept: %d bytes, want %d", again.Size(), first.Size())
	}
	if _, err := s.Binary("other", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a binary that is not there was kept")
	}
	if left, _ := os.ReadDir(filepath.Dir(s.Bin("other"))); len(left) != 0 {
		t.Errorf("a failed copy left %v", left)
	}
}

func isBusy(err error, pid int) bool {
	busy, ok := errors.AsType[*BusyError](err)
	return ok && busy.Pid == pid
}
