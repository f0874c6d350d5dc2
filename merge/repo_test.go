package merge

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
	"agentswarm/worktree/git"
)

// at is when everything in these tests happens.
var at = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

var (
	author    = git.Person{Name: "robot (m1)", Email: "robot@example.com", When: at}
	committer = git.Person{Name: "A User", Email: "user@example.com", When: at}
)

// fixture is a repository with a checkout, made by real git.
type fixture struct {
	testing.TB
	dir  string // the checkout
	home string
	repo *git.Repo
	q    *git.Quarantine
}

func newFixture(t testing.TB, initArgs ...string) *fixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{TB: t, dir: filepath.Join(top, "a repo"), home: filepath.Join(top, "home")}
	for _, d := range []string{f.dir, f.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	f.git("config", "user.name", "A User")
	f.git("config", "user.email", "user@example.com")
	f.open()
	return f
}

// open finds the repository anew and freezes its configuration as it is now.
func (f *fixture) open() {
	f.Helper()
	repo, err := git.New(f.environ()).Discover(f.Context(), f.dir)
	if err != nil {
		f.Fatal(err)
	}
	frozen, err := repo.Freeze(f.Context(), filepath.Join(f.TempDir(), "frozen"))
	if err != nil {
		f.Fatal(err)
	}
	f.repo = repo
	if f.q, err = frozen.Quarantine(filepath.Join(f.TempDir(), "objects")); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + f.home, "TMPDIR=" + f.home}
}

// git runs the user's git in the checkout.
func (f *fixture) git(args ...string) string {
	f.Helper()
	return f.gitIn(f.dir, nil, args...)
}

func (f *fixture) gitIn(dir string, stdin []byte, args ...string) string {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), "git", args...)
	cmd.Dir = dir
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in
	// the repository until it is done.
	cmd.Env = append(f.environ(), "LC_ALL=C",
		"GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		f.Fatalf("git %q in %s: %v: %s", args, dir, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// write puts files into the checkout. "x:" before a content makes a program,
// "l:" a symlink, and no content takes the file away.
func (f *fixture) write(files map[string]string) {
	f.Helper()
	f.writeIn(f.dir, files)
}

func (f *fixture) writeIn(dir string, files map[string]string) {
	f.Helper()
	for _, name := range sorted(files) {
		if files[name] == "" {
			f.must(os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	for _, name := range sorted(files) {
		path, text := filepath.Join(dir, name), files[name]
		if text == "" {
			continue
		}
		f.must(os.MkdirAll(filepath.Dir(path), 0o755))
		f.must(os.RemoveAll(path))
		to, link := strings.CutPrefix(text, "l:")
		program, runs := strings.CutPrefix(text, "x:")
		switch {
		case link:
			f.must(os.Symlink(to, path))
		case runs:
			testprogram.Write(f, path, program)
		default:
			f.must(os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

func sorted(files map[string]string) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// record is where a transaction of the tests is recorded.
func (f *fixture) record(id string) Record {
	return Record{Records: filepath.Join(f.home, "checkouts"), ID: id}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// commit commits files in the checkout and returns the commit.
func (f *fixture) commit(files map[string]string) git.Hash {
	f.Helper()
	f.write(files)
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", "user's work")
	return f.head()
}

func (f *fixture) head() git.Hash { f.Helper(); return git.Hash(f.git("rev-parse", "HEAD")) }

// side makes a commit on base elsewhere: the checkout does not notice.
func (f *fixture) side(base git.Hash, files map[string]string) git.Hash {
	f.Helper()
	dir := filepath.Join(f.TempDir(), "side")
	f.git("worktree", "add", "-q", "--detach", dir, string(base))
	f.writeIn(dir, files)
	f.gitIn(dir, nil, "add", "-A", "-f")
	f.gitIn(dir, nil, "commit", "-q", "--allow-empty", "-m", "agent's work")
	made := f.gitIn(dir, nil, "rev-parse", "HEAD")
	f.git("worktree", "remove", "--force", dir)
	f.git("update-ref", "refs/swarm/k3x9q2/a/"+made, made)
	return git.Hash(made)
}

// patch is a change of base by the agent id.
func (f *fixture) patch(id string, base git.Hash, files map[string]string) Patch {
	f.Helper()
	return Patch{
		ID: id, Base: base, Commit: f.side(base, files), Subject: "change by " + id,
		Author: author, Trailers: []string{"Swarm-Run: k3x9q2", "Swarm-Agent: " + id},
	}
}

// merge merges, once with splicing and once without, and fails where the two
// are not the same.
func (f *fixture) merge(onto git.Hash, patches ...Patch) *Outcome {
	f.Helper()
	req := Request{Onto: onto, Patches: patches, Committer: committer}
	out, err := Merge(f.Context(), f.q, req)
	if err != nil {
		f.Fatal(err)
	}
	slow, err := merge(f.Context(), f.q, req, plain)
	if err != nil {
		f.Fatal(err)
	}
	if diff := different(out, slow); diff != "" {
		f.Fatalf("spliced and not spliced differ: %s", diff)
	}
	return out
}

// different describes the difference of two outcomes, apart from splicing.
func different(a, b *Outcome) string {
	text := func(o *Outcome) string {
		var ids []string
		for _, l := range o.Landed {
			ids = append(ids, l.ID+"="+string(l.Commit))
		}
		return fmt.Sprintf("commit %s tree %s landed %q empty %q conflicts %+v",
			o.Commit, o.Tree, ids, o.Empty, o.Conflicts)
	}
	if x, y := text(a), text(b); x != y {
		return x + "\nagainst " + y
	}
	return ""
}

// files lists a commit of the quarantine: path, mode and content.
func (f *fixture) files(commit git.Hash) map[string]string {
	f.Helper()
	out, err := f.q.Run(f.Context(), git.Cmd{Args: []string{"ls-tree", "-r", "-z", string(commit)}})
	f.must(err)
	files := map[string]string{}
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, path, _ := strings.Cut(rec, "\t")
		part := strings.Fields(head)
		if len(part) != 3 {
			continue
		}
		text := part[2]
		if part[1] == "blob" {
			blob, err := f.q.Run(f.Context(), git.Cmd{Args: []string{"cat-file", "blob", part[2]}})
			f.must(err)
			text = string(blob)
		}
		switch part[0] {
		case "100755":
			text = "x:" + text
		case "120000":
			text = "l:" + text
		}
		files[path] = text
	}
	return files
}

// commitPlain commits files on a parent without a checkout, so that it can make
// trees that no checkout can hold: "160000,ID" is a submodule at ID.
func (f *fixture) commitPlain(parent git.Hash, files map[string]string) git.Hash {
	f.Helper()
	index := filepath.Join(f.TempDir(), "index")
	run := func(stdin string, args ...string) string {
		out, err := f.repo.Run(f.Context(), git.Cmd{
			Args: args, Stdin: strings.NewReader(stdin), Writes: true,
			Env: []string{"GIT_INDEX_FILE=" + index},
		})
		f.must(err)
		return strings.TrimSpace(string(out))
	}
	commit := []string{"commit-tree", "-m", "plain"}
	if parent != "" {
		run("", "read-tree", string(parent))
		commit = append(commit, "-p", string(parent))
	}
	var gone, made strings.Builder
	for _, path := range sorted(files) {
		text, mode, id := files[path], "100644", ""
		if program, ok := strings.CutPrefix(text, "x:"); ok {
			mode, text = "100755", program
		}
		if to, ok := strings.CutPrefix(text, "l:"); ok {
			mode, text = "120000", to
		}
		if commit, ok := strings.CutPrefix(text, "160000,"); ok {
			mode, id = "160000", commit
		}
		if text == "" {
			gone.WriteString(path + "\x00")
			continue
		}
		if id == "" {
			id = run(text, "hash-object", "-w", "--stdin")
		}
		fmt.Fprintf(&made, "%s %s\t%s\x00", mode, id, path)
	}
	run(gone.String(), "update-index", "-z", "--force-remove", "--stdin")
	run(made.String(), "update-index", "-z", "--index-info")
	tree := run("", "write-tree", "--missing-ok")
	return git.Hash(run("", append(commit, tree)...))
}

func (f *fixture) wantGone(path string) {
	f.Helper()
	if _, err := os.Lstat(path); err == nil {
		f.Errorf("%s is there, want it not to be", path)
	}
}
