package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testprogram"
)

// linked makes a repository with a branch, a remote and a linked worktree, and
// returns the folder they are in.
func linked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, `set -e
git init -q -b main repo && cd repo
echo 1 >mv; echo 2 >stash; mkdir d; echo 3 >d/f; git add -A; git commit -qm base
git branch other; git tag v1
git clone -q --bare . ../up && git remote add origin ../up && git --git-dir=../up branch far && git fetch -q
git worktree add -q --detach ../tree`, environ(os.Getenv("PATH"), dir))
	return dir
}

func TestScript(t *testing.T) {
	t.Parallel()
	dir := linked(t)
	path := os.Getenv("PATH")
	odd := filepath.Join(dir, "odd 'name\" $x \\ *\n-")
	shims := shimmed(t, odd)
	guards := filepath.Join(filepath.Dir(shims), "guards", "set")
	if err := os.MkdirAll(guards, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../swarm", filepath.Join(guards, "git")); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, "alone") // a script with no swarm beside it
	if err := os.MkdirAll(filepath.Join(alone, "shims"), 0o700); err != nil {
		t.Fatal(err)
	}
	testprogram.Write(t, filepath.Join(alone, "shims", "git"), string(Script))
	for link, to := range map[string]string{"way": shims, "here": filepath.Join(dir, "repo")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, call string
		path       string // before the real PATH
		more       []string
		want       said
	}{
		{"plain", "git status --porcelain", shims, nil, said{0, "", ""}},
		{"elsewhere", "cd / && git -C " + quote(dir+"/repo") + " rev-parse --show-prefix", shims, nil, said{0, "\n", ""}},
		{"a file called mv", "git ls-files -- mv", shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, "mv\n", ""}},
		{"a file called stash", "git ls-files -- stash", shims, []string{"SWARM_WORKSPACE=worktree"}, said{0, "stash\n", ""}},
		{"odd arguments", `git rev-parse --sq-quote 'a  b' '' '*' "it's" 'new
line'`, shims, nil, said{0, " 'a  b' '' '*' 'it'\\''s' 'new\nline'\n", ""}},
		{"odd arguments, handed over", `git rev-parse --sq-quote mv '' '*' "it's"`, shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv' '' '*' 'it'\\''s'\n", ""}},
		{"its code", "git diff --no-index --quiet mv stash", shims, nil, said{1, "", ""}},
		{"its code, handed over", "git diff --no-index --quiet mv stash", shims, []string{"SWARM_WORKSPACE=overlay"}, said{1, "", ""}},
		{"stdin, handed over", "echo 1 | git hash-object --stdin --path=mv -- mv | wc -l", shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, "2\n", ""}},
		{"twice", "git rev-parse --sq-quote mv", shims + ":" + shims + "/:" + shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"by another name", "git rev-parse --sq-quote mv", filepath.Join(dir, "way") + ":" + shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"two builds", "git rev-parse --sq-quote mv", shims + ":" + filepath.Join(alone, "shims"), []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"after its guard", quote(shims) + "/git rev-parse --sq-quote mv", guards + ":" + shims, nil, said{0, " 'mv'\n", ""}},
		{"after its guard, handed over", quote(shims) + "/git rev-parse --sq-quote mv", guards + ":" + shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"its guard alone in PATH", quote(shims) + "/git rev-parse --sq-quote mv", guards, nil, said{0, " 'mv'\n", ""}},
		{"without swarm", "git rev-parse --sq-quote mv", filepath.Join(alone, "shims"), []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"from its own folder", "cd " + quote(shims) + " && git -C " + quote(dir+"/repo") + " rev-parse --sq-quote mv", "", []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"in its own folder", "cd " + quote(shims) + " && ./git rev-parse --sq-quote mv", ".", []string{"SWARM_WORKSPACE=overlay"}, said{0, " 'mv'\n", ""}},
		{"what git is told of PATH", `git -c alias.x='!echo "$PATH"' x | grep -c bin/build/shims`, shims, nil, said{1, "0\n", ""}},
		{"the whole environment", `Q=1 git -c alias.x='!echo "$Q$SWARM_WORKSPACE"' x mv`, shims, []string{"SWARM_WORKSPACE=overlay"}, said{0, "1overlay mv\n", ""}},
		{"refused", "git stash", shims, []string{"SWARM_WORKSPACE=worktree"}, said{1, "", "git stash: this workspace shares its refs with others; " +
			"commit instead (`git reset --soft HEAD~` takes it back): a commit here is on no branch and is kept\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := environ(strings.TrimPrefix(tt.path+":"+path, "."), dir, append(tt.more, "SWARM_WORKTREE="+filepath.Join(dir, "tree"))...)
			got, err := shell(filepath.Join(dir, "tree"), tt.call, env)
			if err != nil || got != tt.want {
				t.Errorf("%s = %+v, %v, want %+v", tt.call, got, err, tt.want)
			}
		})
	}
}

func TestNoGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shims := shimmed(t, dir)
	empty := filepath.Join(dir, "empty")
	if err := os.MkdirAll(filepath.Join(empty, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"alone": shims, "twice": shims + ":" + shims, "with another": shims + ":" + empty, "missing": shims + ":" + filepath.Join(dir, "none"),
	} {
		for _, call := range []string{"git status", "git mv a b"} {
			got, err := shell(dir, call, environ(path, dir, "SWARM_WORKSPACE=overlay"))
			if want := (said{127, "", "git: there is no git in PATH\n"}); err != nil || got != want {
				t.Errorf("%s: %s = %+v, %v, want %+v", name, call, got, err, want)
			}
		}
	}
	got, err := shell(dir, "../bin/build/swarm __git mv a b", environ("", filepath.Join(dir, "empty")))
	if err != nil || got.Code == 0 {
		t.Errorf("without PATH: %+v, %v", got, err)
	}
}

// TestShared: in its workspace an agent is kept from shared state, and in a
// repository of its own it is not. Refs stay as they are.
func TestShared(t *testing.T) {
	t.Parallel()
	dir := linked(t)
	env := environ(shimmed(t, dir)+":"+os.Getenv("PATH"), dir, "SWARM_WORKSPACE=worktree", "SWARM_WORKTREE="+filepath.Join(dir, "tree"))
	plain := environ(os.Getenv("PATH"), dir)
	before := must(t, filepath.Join(dir, "repo"), "git for-each-ref; git config -l --local", plain)
	for _, tt := range []struct {
		call    string
		refused bool
	}{
		{"cd tree && git branch x", true},
		{"cd tree/d && git branch x", true},
		{"git -C tree branch x", true},
		{"git -C repo branch x", true},
		{"git --git-dir=repo/.git tag x", true},
		{"GIT_DIR=repo/.git git tag x", true},
		{"cd tree && git checkout other", true},
		{"cd tree && git checkout -q v1 && git checkout --detach -q main", false},
		{"cd tree && git checkout far", true}, // made of a remote's
		{"cd tree && git checkout -q origin/far", false},
		{"cd tree && git checkout mv", false},
		{"cd tree && git switch -q --detach other && git branch -a", false},
		{"cd tree && git fetch -q --refmap= origin far && git log -1 FETCH_HEAD", false},
		{"cd tree && git fetch -q origin far", true},
		{"cd tree && git -c user.name=x config user.name", false},
		{"cd tree && git config user.name x", true},
		{"cd tree && git config --global user.name x", false},
		{"cd tree && echo 4 >>mv && git commit -qam x && git cherry-pick -n HEAD", false},
		{"git init -q own && cd own && git commit -q --allow-empty -m x && git branch x && git stash list && git tag x", false},
		{"git init -q own2 && cd own2 && git commit -q --allow-empty -m x && git worktree add -q ../own3 && cd ../own3 && git branch y", false},
		{"git clone -q --shared tree own4 && cd own4 && git switch -qc x && git config a.b c", false},
		{"cd tree && SWARM_WORKTREE= git branch x", true},
		{"cd own && SWARM_WORKTREE= git branch z", false},
		{"cd tree && SWARM_WORKSPACE=reflink git stash && SWARM_WORKSPACE= git stash", false},
		{"cd / && git stash", false}, // where git has its own words
	} {
		got, err := shell(dir, tt.call, env)
		if err != nil {
			t.Fatal(err)
		}
		refused := got.Code == 1 && strings.Contains(got.Err, "this workspace shares its") && strings.Count(got.Err, "\n") == 1
		if refused != tt.refused || !refused && got.Code != 0 && !strings.Contains(got.Err, "not a git repository") {
			t.Errorf("%s = %+v, want refused %v", tt.call, got, tt.refused)
		}
	}
	if after := must(t, filepath.Join(dir, "repo"), "git for-each-ref; git config -l --local", plain); after != before {
		t.Errorf("the shared repository has\n%s\nbefore it had\n%s", after, before)
	}
}

// BenchmarkScript measures the script for each call of git. Processor time is
// the figure to read on a busy machine.
func BenchmarkScript(b *testing.B) {
	dir := b.TempDir()
	shims := filepath.Join(dir, "shims")
	if err := os.Mkdir(shims, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shims, "git"), Script, 0o700); err != nil {
		b.Fatal(err)
	}
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
			b.Fatal(err)
		}
		return (u.Utime.Nano() + u.Stime.Nano()) / 1000
	}
	path := os.Getenv("PATH")
	for name, path := range map[string]string{"plain": path, "script": shims + ":" + path} {
		b.Run(name, func(b *testing.B) {
			env := environ(path, dir, "SWARM_WORKSPACE=worktree")
			const calls = 20
			script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do git --version >/dev/null; i=$((i+1)); done", calls)
			before := used()
			for b.Loop() {
				if got, err := shell(dir, script, env); err != nil || got.Code != 0 {
					b.Fatal(got, err)
				}
			}
			all := float64(b.N * calls)
			b.ReportMetric(float64(b.Elapsed().Microseconds())/all, "µs/call")
			b.ReportMetric(float64(used()-before)/all, "cpu-µs/call")
		})
	}
}
