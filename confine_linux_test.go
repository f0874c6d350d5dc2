package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/worktree"
)

// behindWalls are the default variables of a user, with workspaces of a kind.
func behindWalls(t *testing.T, backend string) []string {
	t.Helper()
	needs := "mounts"
	if backend == string(worktree.Overlay) {
		needs = "overlays"
	}
	if ok, err := scriptCondition(needs, worktree.Linked); err != nil || !ok {
		t.Skip("no such sandbox can be set up here", err)
	}
	return []string{"SWARM_SANDBOX=", "SWARM_BACKEND=" + backend}
}

// takenOver is a filter that makes its input upper case. Input with TAKE OVER
// takes the filter over: it does all the harm that it can, and continues. $1 is
// the fixture.
const takenOver = `#!/bin/sh
text=$(cat; echo .); text=${text%.}
case $text in *"TAKE OVER"*)
	for to in home/.bashrc home/.config/git/config repo/.git/config repo/.git/hooks/pre-commit repo/pkg/p0/f.txt \
		repo/.git/index state/mine tmp/mine mine; do
		mkdir -p "$1/${to%/*}"; echo harm >> "$1/$to"
	done
	test -e "$1"/state/*/runs/*/journal.jsonl && echo seen >> "$1/ledger/state"
	kill -KILL "$(cat "$1/ledger/owner")" && echo killed >> "$1/ledger/killed"
	test -r "$1/home/.ssh/id" && test -s "$1/home/.ssh/id" && echo read >> "$1/ledger/secret"
	test "$API_TOKEN" && echo read >> "$1/ledger/token"
	setsid sh -c 'sleep 1000; :' "mark:$1" >/dev/null 2>&1 &
	echo tried >> "$1/ledger/tried"
esac 2>/dev/null
printf %s "$text" | tr a-z A-Z
`

// TestFilterTakenOver: the files of an agent take over the filter of the user's
// that reads them. It gains nothing by that: not where they are captured, and
// not where they are put into a workspace again.
func TestFilterTakenOver(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"worktree", "overlay"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			walls := append(behindWalls(t, backend), "API_TOKEN=x")
			y.write("home/.bashrc", "mine\n")
			y.write("home/.ssh/id", "mine\n")
			y.filter("clean", "smudge")
			before := y.theirs()
			work := "printf 'take over\n' > new.txt; printf 'plain\n' > new.md"
			if got := y.owned(walls, "run", "--write", string(y.ledger), "--", "sh", "-c", work+"; printf 'TAKE OVER\n' > bad.txt"); got.code != 0 {
				t.Fatalf("run ended with %d: %s", got.code, got.stderr)
			}
			y.harmless(before, 1)
			for path, want := range map[string]string{"new.txt": "TAKE OVER", "bad.txt": "TAKE OVER", "new.md": "plain"} {
				ref := strings.Fields(y.captures("for-each-ref", "--format=%(objectname)", "refs/swarm/**/a/**"))[0]
				if got := y.git("show", ref+":"+path); got != want {
					t.Errorf("%s was captured as %q, want %q", path, got, want)
				}
			}
			// The filter writes a copy of the agent's files.
			if got := y.owned(walls, "exec", "a1", "--", "sh", "-c", "cat new.txt new.md"); got.code != 0 || got.stdout != "TAKE OVER\nplain\n" {
				t.Fatalf("exec ended with %d and %q: %s", got.code, got.stdout, got.stderr)
			}
			y.harmless(before, 2)
		})
	}
}

// TestFilterTakenOverByBase has an agent's files in the base of another agent
// take over the filter that checks them out.
func TestFilterTakenOverByBase(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"worktree", "overlay"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			walls := append(behindWalls(t, backend), "API_TOKEN=x")
			y.write("home/.bashrc", "mine\n")
			y.write("home/.ssh/id", "mine\n")
			y.filter("smudge")
			before := y.theirs()
			y.write("tasks.jsonl", `{"id": "one", "command": ["sh", "-c", "echo take over | tr a-z A-Z > bad.txt; echo more > more.txt"]}
{"id": "two", "depends_on": ["one"], "command": ["sh", "-c", "cat more.txt; test \"$(cat bad.txt)\" = 'TAKE OVER' && git status --porcelain"]}
`)
			if got := y.owned(walls, "run", "--trust", "--write", string(y.ledger), filepath.Join(y.dir, "tasks.jsonl")); got.code != 0 {
				t.Fatalf("run ended with %d: %s", got.code, got.stderr)
			}
			y.harmless(before, 1)
			if got := y.owned(walls, "logs", "--raw", "a2"); !strings.HasPrefix(got.stdout, "MORE\n") {
				t.Errorf("the second agent said %q: %s", got.stdout, got.stderr)
			}
		})
	}
}

// filter gives all text files of the repository the filter that can be taken
// over.
func (y *fixture) filter(verbs ...string) {
	y.t.Helper()
	y.program("bin/filter.sh", takenOver)
	y.write("repo/.gitattributes", "*.txt filter=soft\n")
	for _, verb := range verbs {
		y.git("config", "filter.soft."+verb, fmt.Sprintf("%s/bin/filter.sh '%s'", y.dir, y.dir))
	}
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "second")
}

// owned runs a command whose process id is in a file that the sandbox leaves open.
func (y *fixture) owned(more []string, args ...string) said {
	y.t.Helper()
	swarm, err := exec.LookPath("swarm")
	y.must(err)
	script := fmt.Sprintf("echo $$ > '%s/owner'; exec '%s' \"$@\"", string(y.ledger), swarm)
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env = y.repo, append(append([]string{}, y.env...), more...)
	var out, words strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &words
	err = cmd.Run()
	if cmd.ProcessState == nil {
		y.must(err)
	}
	return said{stdout: out.String(), stderr: words.String(), code: cmd.ProcessState.ExitCode()}
}

// harmless fails unless the filter was taken over so many times, and it came to
// nothing.
func (y *fixture) harmless(before string, times int) {
	y.t.Helper()
	if got := len(y.linesOf("ledger/tried")); got < times {
		y.failf("the filter was taken over %d times, want %d", got, times)
	}
	for _, name := range []string{"ledger/state", "ledger/killed", "ledger/secret", "ledger/token", "mine", "tmp/mine", "state/mine", "home/.config"} {
		if _, err := os.Lstat(filepath.Join(y.dir, name)); err == nil {
			y.failf("a filter that was taken over left %s: %q", name, y.linesOf(name))
		}
	}
	if got := y.linesOf("home/.bashrc"); len(got) != 1 || got[0] != "mine" {
		y.failf("a filter that was taken over wrote to HOME: %q", got)
	}
	if after := y.theirs(); after != before {
		y.failf("a filter that was taken over changed the checkout:\n%s\nwas\n%s", after, before)
	}
	if alive := y.alive(); len(alive) > 0 {
		y.failf("a filter that was taken over left %q", alive)
	}
}

func (y *fixture) linesOf(name string) []string {
	text, err := os.ReadFile(filepath.Join(y.dir, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestKillWhileFilterHangsBehindWalls kills swarm with -9 while a filter hangs
// that reads an agent's files. The filter ends with swarm, and a resume
// captures.
func TestKillWhileFilterHangsBehindWalls(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"worktree", "overlay"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.env = append(y.env, behindWalls(t, backend)...)
			// Its process id belongs to its own namespace.
			y.program("bin/hang.sh", fmt.Sprintf("#!/bin/sh\ntest -e '%s' || exec cat\n"+
				"echo hangs >> '%s'\nexec fakeagent deaf 'mark:%s'\n", y.path("hangs"), y.path("hanging"), y.dir))
			y.write("repo/.gitattributes", "*.txt filter=hang\n")
			y.git("add", "-A")
			y.git("commit", "-q", "-m", "second")
			y.git("config", "filter.hang.clean", filepath.Join(y.dir, "bin", "hang.sh"))
			run := []string{"run", "--write", string(y.ledger), "--", "fakeagent", "write:new.txt:x", "touch:" + y.path("hangs")}
			y.killHanging(run)
			y.must(os.Remove(y.path("hangs")))
			y.program("bin/hang.sh", "#!/bin/sh\nexec cat\n")
			y.ends(0, "resume")
			y.nothingLost(y.view())
		})
	}
}
