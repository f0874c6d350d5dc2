package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// sandboxedFixture is a fixture whose agents have the default settings: a sandbox, and
// workspaces that are overlays.
func sandboxedFixture(t *testing.T) *fixture {
	t.Helper()
	y := newFixture(t)
	y.on(worktree.Overlay)
	return y
}

// mountedBy are the processes that have something of the fixture mounted, whatever
// their command lines and environments say.
func (y *fixture) mountedBy() (pids []int) {
	y.t.Helper()
	ours, _ := os.Readlink("/proc/self/ns/mnt")
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if space, err := os.Readlink(filepath.Join(dir, "ns/mnt")); err != nil || space == ours {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(dir, "mountinfo"))
		if bytes.Contains(text, []byte(y.dir)) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// nobody waits until no process runs for the fixture and nothing of it is mounted.
// It fails if that never happens.
func (y *fixture) noProcesses() {
	y.t.Helper()
	var alive []string
	var mounted []int
	for deadline := time.Now().Add(never); time.Now().Before(deadline); {
		alive, mounted = processesWith(y.dir), y.mountedBy()
		if len(alive)+len(mounted) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond) // a poll: the kernel tells nobody
	}
	for _, pid := range mounted {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		alive = append(alive, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	y.failf("still alive: %q", alive)
}

// noWorkspaces checks that no workspace is left, that no folder of agents'
// files elsewhere is left, and that no link keeps a base in use.
func (y *fixture) noWorkspaces() {
	y.t.Helper()
	y.tidy()
	left, err := filepath.Glob(filepath.Join(y.state, "repo-*", "runs", "*", "a", "*", "*", "box"))
	y.must(err)
	users, err := filepath.Glob(filepath.Join(y.state, "repo-*", "bases", "*", "users", "*"))
	y.must(err)
	for _, link := range users {
		if _, err := os.Stat(link); err == nil { // a link to a missing workspace keeps no base
			left = append(left, link)
		}
	}
	if len(left) > 0 {
		y.failf("left: %q", left)
	}
}

// supervisorsOf are the supervisors of the run that live.
func (y *fixture) supervisorsOf(agents ...task.ID) (pids []int) {
	v := y.view()
	if v == nil {
		return nil
	}
	for _, a := range v.Agents {
		for _, s := range a.Supervisors {
			if proc.Alive(s.Pid, s.Start) && (len(agents) == 0 || slices.Contains(agents, a.ID)) {
				pids = append(pids, s.Pid)
			}
		}
	}
	return pids
}

// spacesOf are the PID namespaces of supervisors. A process in a PID namespace
// can leave its environment, session and parents, but not the namespace. The
// test holds them open to its end. The kernel gives the number of an ended
// namespace to a new one, even to that of another test.
func (y *fixture) spacesOf(pids []int) (spaces []string) {
	for _, pid := range pids {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", pid))
		if err != nil {
			continue // it has ended
		}
		at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		y.must(err)
		if slices.Contains(y.spaces, at) {
			y.must(f.Close())
		} else {
			y.spaces = append(y.spaces, at)
			y.t.Cleanup(func() { _ = f.Close() })
		}
		spaces = append(spaces, at)
	}
	return spaces
}

// livingIn counts the processes in PID namespaces.
func livingIn(spaces []string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && slices.Contains(spaces, at) {
			n++
		}
	}
	return n
}

// resting counts the agents of manyProcesses, by their PID namespaces, that have
// begun all they begin and come to their last command.
func resting(spaces []string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, link := range all {
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "cmdline"))
		if at, err := os.Readlink(link); err == nil && slices.Contains(spaces, at) && string(line) == "sleep\x001005\x00" {
			n++
		}
	}
	return n
}

// lasting is the number of processes of manyProcesses that stay, with the
// supervisor and the agent. Those of chains come and go: a reader of /proc that
// is slow sees none of them.
const lasting = 18

// manyProcesses is an agent that works and leaves twenty processes to be ended:
// plain ones, daemons, some without an environment, deaf ones, and chains in
// which each process lives until it has started the next.
const manyProcesses = `echo more >> "$SWARM_ITEM"/f.txt
echo new > "$SWARM_ITEM"/new.txt
for i in 1 2 3 4; do
	sleep 1001 &
	(setsid sh -c 'sleep 1002 & exit' &)
	env -i PATH="$PATH" sleep 1003 &
	(trap '' TERM HUP INT; exec setsid sleep 1004) &
	setsid sh chain.sh &
done
: > up
exec sleep 1005
`

// TestKilledWithFourHundred kills swarm while its agents have four hundred
// processes. No process is left, and their work is captured.
func TestKilledWithFourHundred(t *testing.T) {
	t.Parallel()
	y := sandboxedFixture(t)
	const agents = 20
	for i := range agents {
		y.write(fmt.Sprintf("repo/pkg/p%d/f.txt", i), "file\n")
	}
	y.write("repo/agent.sh", manyProcesses)
	y.write("repo/chain.sh", "sleep 0.2\nsh chain.sh &\n")
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "agents")
	before, mounts := y.theirs(), mountsOfThis(t, y.dir)

	cmd, wait := y.start(nil, "run", "-j", strconv.Itoa(agents), "--each", "pkg/*/", "--", "sh", "agent.sh")
	var spaces []string
	alive := 0
	y.await("so many processes", func() bool {
		spaces = y.spacesOf(y.supervisorsOf())
		alive = livingIn(spaces)
		return len(spaces) == agents && resting(spaces) == agents && alive >= agents*lasting
	})
	y.must(cmd.Process.Kill())
	killed := time.Now()
	_ = wait()
	y.await("their end", func() bool { return livingIn(spaces) == 0 })
	t.Logf("%d processes were gone after %s", alive, time.Since(killed).Round(time.Millisecond))
	y.noProcesses()
	if now := mountsOfThis(t, y.dir); now != mounts {
		t.Errorf("mounted now:\n%s\nbefore:\n%s", now, mounts)
	}

	y.ends(0, "gc")
	v := y.view()
	if v.Status != store.RunStopped || len(v.Agents) != agents {
		t.Fatalf("the run is %s with %d agents", v.Status, len(v.Agents))
	}
	for _, a := range v.Agents {
		r, ok := a.Status.(*task.Failed)
		if !ok || r.Kind != task.Lost || r.Patch == nil || r.Patch.Files != 3 {
			t.Errorf("%s is %+v, want it lost with a patch of 3 files", a.ID, a.Status)
			continue
		}
		if text := y.git("show", r.Patch.Commit+":"+a.Call.Item+"/new.txt"); text != "new" {
			t.Errorf("%s left %q", a.ID, text)
		}
	}
	if now := y.theirs(); now != before {
		t.Error("what is the user's changed")
	}
	y.noWorkspaces()
}

// TestSupervisorKilled kills, from outside, the process between swarm and an
// agent. The agent has failed, with its work until then. No process of it is
// left, and the run goes on.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	y := sandboxedFixture(t)
	y.write("repo/agent.sh", manyProcesses)
	y.write("repo/chain.sh", "sleep 0.2\nsh chain.sh &\n")
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "agent")
	_, wait := y.start(nil, "run", "-j", "1", "--each", "pkg/*/", "--", "sh", "-c",
		"test $SWARM_AGENT = a1 && exec sh agent.sh; echo more >> $SWARM_ITEM/f.txt")
	var supervisors []int
	var spaces []string
	y.await("so many processes", func() bool {
		supervisors = y.supervisorsOf("a1")
		spaces = y.spacesOf(supervisors)
		return len(spaces) == 1 && resting(spaces) == 1 && livingIn(spaces) >= lasting
	})
	y.must(syscall.Kill(supervisors[0], syscall.SIGKILL))
	if s := wait(); s.code != 3 {
		t.Errorf("it ended with %d, want 3: %s", s.code, s.stderr)
	}
	if n := livingIn(spaces); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	v := y.view()
	r, ok := v.Agent("a1").Status.(*task.Failed)
	if !ok || r.Kind != task.Lost || r.Patch == nil || r.Patch.Files != 3 {
		t.Errorf("a1 is %+v, want it lost with a patch of 3 files", v.Agent("a1").Status)
	}
	for _, id := range []task.ID{"a2", "a3"} {
		if _, ok := v.Agent(id).Status.(*task.Completed); !ok {
			t.Errorf("%s is %+v, want it completed", id, v.Agent(id).Status)
		}
	}
	y.noProcesses()
	y.noWorkspaces()
}

// TestTwoRunsOnOneBase starts two runs at once. They share a base that either
// of them makes, and nothing else.
func TestTwoRunsOnOneBase(t *testing.T) {
	t.Parallel()
	y := sandboxedFixture(t)
	before := y.theirs()
	args := []string{"run", "--each", "pkg/*/", "--json", "--", "sh", "-c", "echo more >> $SWARM_ITEM/f.txt; git commit -qam mine; git log --oneline | wc -l"}
	_, first := y.start(nil, args...)
	_, second := y.start(nil, args...)
	for _, wait := range []func() said{first, second} {
		if s := wait(); s.code != 0 {
			t.Errorf("it ended with %d: %s", s.code, s.stderr)
		}
	}
	if runs := y.runs(); len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, run := range y.runs() {
		v, err := run.View()
		y.must(err)
		for _, a := range v.Agents {
			if r, ok := a.Status.(*task.Completed); !ok || strings.TrimSpace(r.Answer) != "2" || r.Patch == nil || r.Patch.Files != 1 {
				t.Errorf("%s of run %s is %+v, want 2 commits in sight and a patch of one file", a.ID, run.ID, a.Status)
			}
		}
	}
	bases, err := filepath.Glob(filepath.Join(y.state, "repo-*", "bases", "*", "base.json"))
	y.must(err)
	if len(bases) != 1 {
		t.Errorf("bases are %q, want one", bases)
	}
	if now := y.theirs(); now != before {
		t.Error("what is the user's changed")
	}
	y.noProcesses()
	y.noWorkspaces()
}

// mountsOfThis are the mounts below a folder that this process sees.
func mountsOfThis(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, dir) {
			all.WriteString(line)
		}
	}
	return all.String()
}
