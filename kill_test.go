package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/internal/testprogram"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// killWrites is how much each agent writes.
const killWrites = 5

// TestKills kills swarm, supervisors, agents and git, at steps that a seed
// picks: with linked worktrees without a sandbox, and with overlays inside a
// sandbox. After each kill the next command recovers the run. No work is lost,
// no process is left, and no foreign file is changed. In the end the run
// completes, and lands the tree of an undisturbed run. A campaign kills about a
// hundred times.
func TestKills(t *testing.T) {
	t.Parallel()
	seed, runs := campaign.Seed(t), campaign.Rounds(t, 1, 20)
	want := undisturbed(t)
	for lane, backend := range []worktree.Backend{worktree.Linked, worktree.Overlay} {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			kills := int64(0)
			for n := range runs {
				dice := diceOf(seed, lane, n)
				k := &killing{fixture: newFixture(t), dice: dice, name: fmt.Sprintf("seed %d, %s, run %d", seed, backend, n)}
				k.on(backend)
				kills += k.campaign(want)
				k.must(worktree.RemoveAll(k.dir))
			}
			t.Logf("%d kills in %d runs", kills, runs)
		})
	}
}

// diceOf are the dice of a run. They belong to the run: the draws of the runs
// before it depend on how far these come.
func diceOf(seed uint64, lane, run int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(lane)<<32|uint64(run)))
}

// undisturbed is the tree that a run without kills lands.
func undisturbed(t *testing.T) string {
	t.Helper()
	k := &killing{fixture: newFixture(t)}
	if s := k.swarm(nil, k.runArgs()...); s.code != 0 {
		t.Fatalf("the undisturbed run ended with %d: %s", s.code, s.stderr)
	}
	return k.landed()
}

// killing is a run and the kills it lives through.
type killing struct {
	*fixture
	dice *rand.Rand
	name string // how to find it again

	paid map[task.ID]int // starts of agents when they had completed
}

func (k *killing) runArgs() []string {
	// The check leaves a file behind that is no agent's work.
	return []string{
		"run", "--each", "pkg/*/", "-j", "3", "--verify", "echo checked > checked.txt",
		"--", "fakeagent", fmt.Sprintf("ledger:%s:%d", k.ledger, killWrites),
	}
}

// campaign runs, kills and resumes, and returns how often it killed.
func (k *killing) campaign(want string) (kills int64) {
	k.paid = map[task.ID]int{}
	bystander := exec.Command("fakeagent", "deaf", "bystander")
	k.must(bystander.Start())
	defer func() {
		// Signal reports whether it still exists: no other process reaps it.
		if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
			k.failf("a bystander was killed: %v", err)
		}
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	}()
	before := k.theirs()
	defer k.describe()
	for round := range 5 {
		args := []string{"resume"}
		if k.view() == nil {
			args = k.runArgs()
		}
		if k.fault(args) {
			kills++
		}
		k.inspect(before)
		if v := k.view(); v != nil && v.Status == store.RunCompleted {
			break
		}
		if round > 0 && k.dice.IntN(4) == 0 {
			break
		}
	}
	args := []string{"resume"}
	if k.view() == nil {
		args = k.runArgs()
	}
	s := k.swarm(nil, args...)
	if s.code != 0 {
		k.failf("in the end, swarm %v ended with %d: %s", args, s.code, s.stderr)
	}
	k.inspect(before)
	k.paidOnce()
	if got := k.landed(); got != want {
		k.failf("landed %s, want %s:\n%s", got, want, k.git("ls-tree", "-r", got))
	}
	k.tidy()
	return kills
}

// did remembers the latest fault, for the message of a failure.
func (k *killing) did(what string) { k.about = fmt.Sprintf("%s: after %s: ", k.name, what) }

// describe tells how far a run that failed the test had come.
func (k *killing) describe() {
	if !k.t.Failed() {
		return
	}
	for _, run := range k.runs() {
		text, _ := os.ReadFile(run.Journal())
		k.t.Logf("%s\n%s", run.Dir, text)
	}
}

// fault runs a command during which something is killed. It reports whether
// that came to pass: a command may end before.
func (k *killing) fault(args []string) bool {
	switch what := k.dice.IntN(10); {
	case what < 6:
		return k.killSwarm(args)
	case what < 8:
		return k.killGit(args)
	default:
		who := []string{"agent", "supervisor"}[what-8]
		return k.killAgent(args, who)
	}
}

func (k *killing) killSwarm(args []string) bool {
	happened := filepath.Join(k.dir, "happened")
	defer os.Remove(happened)
	n := 1 + k.dice.IntN(130)
	k.did(fmt.Sprintf("swarm killed at step %d of %s", n, args[0]))
	s := k.swarm([]string{fmt.Sprintf("%s=kill:%d:%s", faultVar, n, happened)}, args...)
	if step, err := os.ReadFile(happened); err == nil {
		k.about += strings.TrimSpace(string(step)) + ": "
		if s.code != 128+int(syscall.SIGKILL) {
			k.failf("it ended with %d: %s", s.code, s.stderr)
		}
		return true
	}
	return false
}

// killGit kills the N-th git of a command: before it did anything, while it
// does, or when it was done.
func (k *killing) killGit(args []string) bool {
	dir := filepath.Join(k.dir, "git")
	k.must(os.RemoveAll(dir))
	k.must(os.MkdirAll(dir, 0o755))
	real, err := exec.LookPath("git")
	k.must(err)
	n, mode := 1+k.dice.IntN(70), []string{"before", "while", "after"}[k.dice.IntN(3)]
	k.did(fmt.Sprintf("git %d killed %s it worked in %s", n, mode, args[0]))
	script := fmt.Sprintf(`#!/bin/sh
echo . >> %[1]s/calls
if test "$(wc -l < %[1]s/calls)" -ge %[2]d && mkdir %[1]s/happened 2> %[1]s/said; then
	echo "$*" > %[1]s/happened/args
	case %[3]s in
	while) %[4]s "$@" <&0 & kill -9 $! ;;
	after) %[4]s "$@" ;;
	esac
	kill -9 $$
fi
exec %[4]s "$@"
`, dir, n, mode, real)
	testprogram.Write(k.t, filepath.Join(dir, "git"), script)
	k.swarm([]string{"PATH=" + dir + ":" + os.Getenv("PATH")}, args...)
	text, err := os.ReadFile(filepath.Join(dir, "happened", "args"))
	k.about += strings.TrimSpace(string(text)) + ": "
	return err == nil
}

// killAgent has an agent or its supervisor killed between two of the agent's
// writes. The agent itself says when it is there.
func (k *killing) killAgent(args []string, who string) bool {
	agent := task.AgentID(1 + k.dice.IntN(yardItems))
	at := 1 + k.dice.IntN(killWrites)
	paused := k.path("paused", string(agent))
	k.did(fmt.Sprintf("%s of %s killed at write %d in %s", who, agent, at, args[0]))
	what := map[string]string{"agent": "agent", "supervisor": "deaf"}[who]
	k.must(k.order(string(agent), what, at))
	defer os.Remove(paused)
	defer os.Remove(k.path("die", string(agent)))
	var watch sync.WaitGroup
	over := make(chan struct{})
	if who == "supervisor" {
		watch.Go(func() { k.killSupervisor(agent, paused, over) })
	}
	k.swarm(nil, args...)
	close(over)
	watch.Wait()
	_, err := os.Stat(paused)
	return err == nil
}

// killSupervisor kills the supervisor of an agent once the agent has paused.
func (k *killing) killSupervisor(agent task.ID, paused string, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(2 * time.Millisecond): // a poll for another process
		}
		if _, err := os.Stat(paused); err != nil {
			continue
		}
		v := k.view()
		if v == nil || v.Agent(agent) == nil {
			continue
		}
		for _, s := range v.Agent(agent).Supervisors {
			if proc.Alive(s.Pid, s.Start) {
				_ = syscall.Kill(s.Pid, syscall.SIGKILL)
				return
			}
		}
	}
}

// inspect has gc recover the run and looks at everything
// that a kill must not harm.
func (k *killing) inspect(theirs string) {
	k.t.Helper()
	if s := k.swarm(nil, "gc"); s.code != 0 || s.unexpected() != "" {
		k.failf("gc ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	s := k.swarm(nil, "ls", "--json")
	if s.code != 0 || strings.Contains(s.stdout, "damaged") || s.unexpected() != "" {
		k.failf("ls ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	k.noProcesses()
	if now := k.theirs(); now != theirs {
		k.failf("what is the user's changed:\n%s\nfrom\n%s", now, theirs)
	}
	v := k.view()
	if v == nil {
		return
	}
	k.nothingLost(v)
	starts := k.lines("starts")
	for _, a := range v.Agents {
		began := 0
		for _, line := range starts {
			if strings.HasPrefix(line, string(a.ID)+" ") {
				began++
			}
		}
		if _, done := a.Status.(*task.Completed); !done {
			continue
		}
		if before, ok := k.paid[a.ID]; ok && before != began {
			k.failf("%s had completed and was started again", a.ID)
		}
		k.paid[a.ID] = began
	}
}

// unexpected is the unexpected output of a command that puts a run in order.
func (s said) unexpected() string {
	for _, known := range []string{"its process died; capturing", "capture what was left", "journal of run"} {
		if strings.Contains(s.stderr, known) {
			return ""
		}
	}
	return s.stderr
}

// paidOnce checks that no attempt followed a successful attempt.
func (k *killing) paidOnce() {
	k.t.Helper()
	runs := k.runs()
	records, err := runs[len(runs)-1].Records()
	k.must(err)
	id, err := runs[len(runs)-1].Identity()
	k.must(err)
	v := store.Fold(id, nil)
	for _, r := range records {
		well := map[task.ID]int{}
		for _, a := range v.Agents {
			if a.Exit != nil && a.Exit.Code == 0 && a.Exit.Error == "" {
				well[a.ID] = a.Attempt
			}
		}
		v.Apply(r)
		for _, a := range v.Agents {
			if n, ok := well[a.ID]; ok && a.Attempt != n {
				k.failf("attempt %d of %s had ended well and was paid for again", n, a.ID)
			}
		}
	}
}

// landed merges the run and returns the tree.
func (k *killing) landed() string {
	k.t.Helper()
	s := k.swarm(nil, "merge", "--into", "landed")
	if s.code != 0 {
		k.failf("merge ended with %d: %s", s.code, s.stderr)
	}
	return k.git("rev-parse", "landed^{tree}")
}
