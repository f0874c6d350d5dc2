package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// TestKilledModuleLandings kills merge and undo of a patch with a commit in a
// submodule: a campaign at every step, the gate at steps of each kind. After the next
// command, parent and submodule are both old or both new.
func TestKilledModuleLandings(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.env = append(y.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	lib := filepath.Join(y.dir, "lib")
	y.git("init", "-q", lib)
	y.write("lib/s", "old\n")
	y.git("-C", lib, "add", "-A")
	y.git("-C", lib, "commit", "-qm", "lib")
	y.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "sub")
	y.git("commit", "-qm", "sub")
	y.ends(0, "run", "--", "sh", "-c", "git -c protocol.file.allow=always -c submodule.active=. submodule --quiet update && "+
		"echo new > sub/s && echo new > sub/n && echo more >> pkg/p0/f.txt")
	y.write("repo/sub/mine.txt", "mine\n")
	m := &moduleLandings{fixture: y}
	m.old = m.sides()
	y.ends(0, "merge")
	m.new = m.sides()
	y.ends(0, "undo")
	if m.sides() != m.old || m.new == m.old {
		y.failf("undo left\n%s\nwant\n%s", m.sides(), m.old)
	}
	steps := []string{
		"checkout put in place s", "checkout move the branch", "checkout move the head of a submodule", "checkout record the end",
	}
	for n := 0; ; n++ {
		step := fmt.Sprint(n + 1)
		if !campaign.Running(t) {
			if n == len(steps) {
				return
			}
			step = steps[n]
		}
		again := false
		for _, command := range []string{"merge", "undo"} {
			// The gate kills a command at each step.
			if campaign.Running(t) || (n%2 == 0) == (command == "merge") {
				again = m.kill(step, command) || again
			}
			if want := map[string]string{"merge": m.new, "undo": m.old}[command]; m.sides() != want {
				y.ends(0, command)
				if m.sides() != want {
					y.failf("%s after a kill at %s left\n%s\nwant\n%s", command, step, m.sides(), want)
				}
			}
		}
		if campaign.Running(t) && !again {
			return // there are no more steps
		}
	}
}

// moduleLandings is a fixture in which a patch with a commit in a submodule lands and is
// taken back.
type moduleLandings struct {
	*fixture
	old, new string
}

// sides is the checkout of the parent and that of the submodule.
func (m *moduleLandings) sides() string {
	m.t.Helper()
	text := m.standing()
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"--no-optional-locks", "status", "--porcelain", "-uall", "--branch"}, {"ls-files", "-s"}} {
		text += "\n" + m.git(append([]string{"-C", "sub"}, args...)...)
	}
	for _, name := range []string{"sub/s", "sub/n", "sub/mine.txt"} {
		file, err := os.ReadFile(filepath.Join(m.repo, name))
		if err != nil {
			file = []byte("none\n")
		}
		text += "\n" + name + ": " + string(file)
	}
	return text
}

// kill kills a command at a step, and has another put the checkouts in order. It
// returns false if the command has no such step.
func (m *moduleLandings) kill(step, command string) bool {
	m.t.Helper()
	happened := filepath.Join(m.dir, "happened")
	defer os.Remove(happened)
	m.about = command + " killed at " + step + ": "
	defer func() { m.about = "" }()
	s := m.swarm([]string{faultVar + "=kill:" + step + ":" + happened}, command)
	_, err := os.Stat(happened)
	killed := err == nil
	if killed != (s.code == 128+int(syscall.SIGKILL)) || !killed && s.code != 0 {
		m.failf("it ended with %d: %s", s.code, s.stderr)
	}
	if !killed && !campaign.Running(m.t) {
		m.failf("there is no such step")
	}
	m.ends(0, "ls")
	if at := m.sides(); at != m.old && at != m.new {
		m.failf("the checkouts are\n%s\nneither\n%s\nnor\n%s", at, m.old, m.new)
	}
	for _, dir := range []string{".git", ".git/modules/sub", "sub", "."} {
		for _, pattern := range []string{"*.lock", "refs/heads/*.lock", "swarm-*", ".swarm-*"} {
			if left, _ := filepath.Glob(filepath.Join(m.repo, dir, pattern)); len(left) > 0 {
				m.failf("there is %q", left)
			}
		}
	}
	return killed
}
