package runcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/script"
	"agentswarm/swarm/workflow"
	"agentswarm/swarm/workflow/host"
)

// checkOn asks for a check by name.
func (s *stage) checkOn(commit, name string, ms int64) (*script.CheckResult, error) {
	return s.tools.Check(s.Context(), workflow.CheckRequest{Key: "k", Check: &script.Check{Name: name, MS: ms}, Commit: commit})
}

// spaces are the workspaces of the run.
func (s *stage) spaces() []string {
	s.Helper()
	entries, err := os.ReadDir(s.session.Trees.Dir)
	s.ok(err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // the others are shared by workspaces
			names = append(names, e.Name())
		}
	}
	return names
}

func TestScriptCheck(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	p := s.patch("a1", string(s.base), "a", "2\n")
	s.use(engine.Config{Checks: map[string]string{
		"good": "cat a; echo said >&2; test \"$PWD\" = \"$SWARM_WORKTREE\"; echo dirt > a; echo x > new",
		"bad":  "echo out; exit 7", "ended": "kill -9 $$",
		"home": "test -z \"$SWARM_AGENT\" && git rev-parse HEAD", "verify": "true",
		"much": "printf 'ä'; i=0; while test $i -lt 7000; do echo 123456789; i=$((i+1)); done",
		"odd":  `printf '\377x'`,
	}})
	for _, tt := range []struct {
		name, commit string
		want         script.CheckResult
	}{
		{"good", string(s.base), script.CheckResult{OK: true, Stdout: "1\n", Stderr: "said\n"}},
		{"good", p.Commit, script.CheckResult{OK: true, Stdout: "2\n", Stderr: "said\n"}},
		{"bad", p.Commit, script.CheckResult{ExitCode: 7, Stdout: "out\n"}},
		{"ended", p.Commit, script.CheckResult{ExitCode: 137}},
		{"home", p.Commit, script.CheckResult{OK: true, Stdout: p.Commit + "\n"}},
		{"odd", p.Commit, script.CheckResult{OK: true, Stdout: "\uFFFDx"}},
	} {
		got, err := s.checkOn(tt.commit, tt.name, 0)
		if err != nil || *got != tt.want {
			t.Errorf("Check(%s) = %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	much, err := s.checkOn(p.Commit, "much", 0)
	s.ok(err)
	if want := strings.Repeat("123456789\n", 7000); len(much.Stdout) != host.MaxCheckOutput || !strings.HasSuffix(want, much.Stdout) {
		t.Errorf("Check(much) = %d bytes ending in %.20q, want the last %d", len(much.Stdout), much.Stdout[len(much.Stdout)-20:], host.MaxCheckOutput)
	}
	if left := s.spaces(); len(left) > 0 {
		t.Errorf("workspaces are left: %v", left)
	}
	if got := s.git("status", "--porcelain"); got != "" {
		t.Errorf("the checkout is changed: %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(s.session.Run.Dir, "script")); err != nil || len(left) != 1 { // the object store for reads
		t.Errorf("the folder of the tools holds %v, %v", left, err)
	}
}

func TestScriptCheckRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	ran := filepath.Join(s.home, "ran")
	const later = "check: a command of a script runs only in a sandbox, and there is none here; put it under [checks] in the configuration and give its name"
	touch := []string{"touch", ran}
	for _, tt := range []struct {
		checks map[string]string
		give   script.Check
		code   script.Code
		want   string
	}{
		{nil, script.Check{Argv: touch}, script.CodePolicy, later},
		{map[string]string{"unit": "true"}, script.Check{Argv: touch, Name: "unit"}, script.CodePolicy, later},
		{nil, script.Check{Name: "unit"}, script.CodeUnknown, `check: there is no check "unit"; the configuration has no table [checks]`},
		{map[string]string{"unit": "true", "lint": "true"}, script.Check{Name: "unti"}, script.CodeUnknown, `check: there is no check "unti"; did you mean "unit"?`},
		{map[string]string{"unit": "true", "lint": "true"}, script.Check{Name: "touch " + ran}, script.CodeUnknown, `check: there is no check "touch ` + ran + `"; the checks are lint, unit`},
		{map[string]string{"unit": "true"}, script.Check{}, script.CodeUnknown, `check: there is no check ""; the checks are unit`},
		{map[string]string{"unit": "true"}, script.Check{Name: "unit", MS: -1}, script.CodeOption, `check: timeout is -1; want milliseconds, or 0 for none`},
	} {
		s.use(engine.Config{Checks: tt.checks, Verify: "true"})
		s.session.Sandbox.Settings.Sandbox = isolation.SandboxOff
		_, err := s.tools.Check(t.Context(), workflow.CheckRequest{Check: &tt.give, Commit: string(s.base)})
		scriptRefusal(t, err, tt.code, tt.want)
	}
	if fspath.Exists(ran) {
		t.Error("a command of the script's own was run")
	}
	_, err := s.checkOn(strings.Repeat("1", 40), "unit", 0)
	scriptRefusal(t, err, script.CodeUnknown, `check: "`+strings.Repeat("1", 40)+`" is not a commit of this repository`)
}

// TestScriptCheckOwnCommand checks that the script's own command runs in a
// sandbox, word for word, and that its writes elsewhere are dropped.
func TestScriptCheckOwnCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	s.use(engine.Config{})
	if !s.session.Sandbox.Walled() {
		t.Skip("there are no walls here: " + termtext.ErrorLine(s.session.Sandbox.Why))
	}
	ran := filepath.Join(s.home, "ran")
	got, err := s.tools.Check(t.Context(), workflow.CheckRequest{
		Check: &script.Check{Argv: []string{"sh", "-c", `cat a; echo "$1"; touch "` + ran + `"; exit 4`, "sh", "$HOME;"}}, Commit: string(s.base),
	})
	if err != nil || got.OK || got.ExitCode != 4 || got.Stdout != "1\n$HOME;\n" {
		t.Errorf("Check = %+v, %v, want what the command said", got, err)
	}
	if fspath.Exists(ran) {
		t.Error("a command of the script's own wrote into HOME")
	}
}

// TestScriptCheckSetup checks that a check runs after the setup. If the setup
// fails, the check has no verdict.
func TestScriptCheckSetup(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	s.use(engine.Config{Setup: "echo ready > made", Checks: map[string]string{"unit": "cat made"}})
	got, err := s.checkOn(string(s.base), "unit", 0)
	if err != nil || !got.OK || got.Stdout != "ready\n" {
		t.Errorf("Check = %+v, %v, want what the setup made", got, err)
	}
	ran := filepath.Join(s.home, "ran")
	s.use(engine.Config{Setup: "echo oh no >&2; exit 3", Checks: map[string]string{"unit": "touch " + ran}})
	_, err = s.checkOn(string(s.base), "unit", 0)
	scriptRefusal(t, err, "", "check unit: setup: exit status 3: oh no")
	if fspath.Exists(ran) || len(s.spaces()) > 0 {
		t.Errorf("the check ran, or a workspace is left: %v", s.spaces())
	}
}

// TestScriptCheckTime checks that a check that takes too long has failed, with
// its output until then, and leaves no process.
func TestScriptCheckTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	s.use(engine.Config{Checks: map[string]string{"slow": "echo begun; sleep 1000", "quick": "true"}})
	for ms := int64(700); ; ms *= 2 {
		got, err := s.checkOn(string(s.base), "slow", ms)
		if err == nil && got.Stdout == "" && ms < 60_000 {
			continue // a busy machine has not let it begin
		}
		want := script.CheckResult{
			ExitCode: -1, Stdout: "begun\n", Stderr: fmt.Sprintf("swarm: stopped after %s\n", time.Duration(ms)*time.Millisecond),
		}
		if err != nil || *got != want {
			t.Errorf("Check = %+v, %v, want %+v", got, err, want)
		}
		break
	}
	if got, err := s.checkOn(string(s.base), "quick", 60_000); err != nil || !got.OK {
		t.Errorf("Check in time = %+v, %v", got, err)
	}
	if left := s.spaces(); len(left) > 0 {
		t.Errorf("workspaces are left: %v", left)
	}
}

// TestScriptCheckCores runs many checks at once on a single core. No two may
// overlap.
func TestScriptCheckCores(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	// All checks share a lock: HOME and TMPDIR are private to each.
	shared := filepath.Join(filepath.Dir(s.home), "shared")
	s.ok(os.Mkdir(shared, 0o700))
	lock := filepath.Join(shared, "lock")
	s.use(engine.Config{Checks: map[string]string{"alone": fmt.Sprintf("mkdir %s || exit 9; sleep 0.1; rmdir %s", lock, lock)}})
	s.session.Sandbox.Settings.Write = []string{shared}
	s.session.Deps.Cores = 1
	s.ok(s.tools.Close())
	s.openTools()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := s.checkOn(string(s.base), "alone", 0); err != nil || !got.OK {
				t.Errorf("Check = %+v, %v", got, err)
			}
		})
	}
	all.Wait()
}

// TestScriptCheckStray: the workspace of a check that a crash cut off goes when
// the run is put in order.
func TestScriptCheckStray(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	s.use(engine.Config{Checks: map[string]string{"unit": "true"}})
	die := fmt.Errorf("killed")
	s.at(func(name string) error {
		if name == "saved" { // the last step of a lease
			return die
		}
		return nil
	})
	if _, err := s.checkOn(string(s.base), "unit", 0); err == nil {
		t.Fatal("Check went on after its death")
	}
	left := s.spaces()
	if len(left) != 1 || !strings.HasPrefix(left[0], "check.") {
		t.Fatalf("workspaces = %v, want one of a check", left)
	}
	s.again()
	s.ok(engine.Recover(t.Context(), s.session.Deps, s.config, s.session.Owner.View()))
	if left := s.spaces(); len(left) > 0 {
		t.Errorf("workspaces are left: %v", left)
	}
	if got := s.git("worktree", "list", "--porcelain"); strings.Contains(got, "check.") {
		t.Errorf("worktrees = %s", got)
	}
	if got, err := s.checkOn(string(s.base), "unit", 0); err != nil || !got.OK {
		t.Errorf("Check after that = %+v, %v", got, err)
	}
}
