package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/task"
)

// TestKilledWhileStarting kills swarm at steps of the start of six agents that
// a seed picks: while it makes a base, workspaces and a sandbox. After each kill no
// process or mount is left, the next command leaves nothing behind, and a
// resume works with the shared state.
func TestKilledWhileStarting(t *testing.T) {
	t.Parallel()
	seed, kills := campaign.Seed(t), campaign.Rounds(t, 5, 25)
	const perRun = 5
	for run := 0; run*perRun < kills; run++ {
		t.Run(fmt.Sprintf("run %d", run), func(t *testing.T) {
			t.Parallel()
			y := sandboxedFixture(t)
			for i := range 2 * yardItems {
				y.write(fmt.Sprintf("repo/pkg/p%d/f.txt", i), "file\n")
			}
			y.git("add", "-A")
			y.git("commit", "-q", "-m", "more")
			s := &startKilling{fixture: y, dice: rand.New(rand.NewPCG(seed, uint64(run)))}
			s.campaign(min(perRun, kills-run*perRun))
		})
	}
}

// startKilling is a run that is killed while it starts.
type startKilling struct {
	*fixture
	dice *rand.Rand
}

// args start the run, or go on with it. Its agents work until there is a file.
func (k *startKilling) args() []string {
	if k.view() != nil {
		return []string{"resume"}
	}
	return []string{"run", "-j", "6", "--each", "pkg/*/", "--setup", "echo made > made.txt",
		"--", "sh", "-c", "echo more >> $SWARM_ITEM/f.txt; test -e ~/enough || exec sleep 1000"}
}

func (k *startKilling) campaign(kills int) {
	before := k.theirs()
	for range kills {
		k.kill(1 + k.dice.IntN(90))
		k.noProcesses()
		if s := k.swarm(nil, "gc"); s.code != 0 || s.unexpected() != "" {
			k.failf("gc ended with %d: %s%s", s.code, s.stdout, s.stderr)
		}
		if s := k.swarm(nil, "ls", "--json"); s.code != 0 || s.unexpected() != "" || strings.Contains(s.stdout, "damaged") {
			k.failf("ls ended with %d: %s%s", s.code, s.stdout, s.stderr)
		}
		if k.view() != nil {
			k.noWorkspaces()
		}
		if now := k.theirs(); now != before {
			k.failf("what is the user's changed:\n%s\nfrom\n%s", now, before)
		}
	}
	k.write("home/enough", "")
	if s := k.swarm(nil, k.args()...); s.code != 0 {
		k.failf("in the end it ended with %d: %s", s.code, s.stderr)
	}
	for _, a := range k.view().Agents {
		r, ok := a.Status.(*task.Completed)
		if !ok || r.Patch == nil || r.Patch.Files != 2 {
			k.failf("%s is %+v, want it completed with a patch of 2 files", a.ID, a.Status)
		}
	}
	k.noWorkspaces()
	k.noProcesses()
}

// kill kills swarm at a step, or once all agents have started.
func (k *startKilling) kill(step int) {
	happened := filepath.Join(k.dir, "happened")
	defer os.Remove(happened)
	cmd, wait := k.start([]string{fmt.Sprintf("%s=kill:%d:%s", faultVar, step, happened)}, k.args()...)
	k.await("the kill", func() bool {
		_, err := os.Stat(happened)
		return err == nil || len(k.supervisorsOf()) == 2*yardItems && k.working() == 2*yardItems
	})
	_ = cmd.Process.Kill() // it may have been at its step
	s := wait()
	at, _ := os.ReadFile(happened)
	k.about = fmt.Sprintf("killed at step %d %s: ", step, bytes.TrimSpace(at))
	k.t.Log(k.about)
	if s.code != -1 {
		k.failf("it ended with %d: %s", s.code, s.stderr)
	}
}

// working counts the agents whose command has begun.
func (k *startKilling) working() (n int) {
	for _, a := range k.view().Agents {
		if _, running := a.Status.(*task.Running); running && a.Round != nil {
			n++
		}
	}
	return n
}
