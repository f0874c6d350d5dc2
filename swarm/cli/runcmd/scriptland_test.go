package runcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree"
)

// land asks for a landing.
func (s *stage) land(key string, l script.Land, patches ...workflow.Patch) (*script.Landing, error) {
	return s.tools.Land(s.Context(), workflow.LandRequest{Key: key, Land: &l, Patches: patches})
}

// landings are the landings of the journal: id, key and outcome.
func (s *stage) landings() string {
	s.Helper()
	records, err := s.session.Run.Records()
	s.ok(err)
	var all []string
	for _, l := range store.Fold(store.Identity{}, records).Landings {
		outcome := "open"
		if l.Outcome != nil {
			outcome = fmt.Sprint(l.Outcome.OK)
		}
		all = append(all, fmt.Sprintf("%d %s %s %v", l.ID, l.Key, outcome, l.Agents))
	}
	return strings.Join(all, "; ")
}

// file is a file of the checkout.
func (s *stage) file(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, name))
	s.ok(err)
	return string(text)
}

func TestScriptLand(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n", "b", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	two := s.patch("a2", string(s.base), "b", "two\n")
	s.use(engine.Config{Checks: map[string]string{"both": "cat a b | tr '\\n' ' ' | grep -q 'one two'"}})
	// In the order that is asked for, and not that of the agents.
	got, err := s.land("k", script.Land{Verify: "both"}, two, one)
	s.ok(err)
	yes := true
	want := &script.Landing{
		Landed: true, Ref: "refs/heads/main", Commit: s.git("rev-parse", "main"), Applied: list(two, one),
		Conflicts: []script.Conflict{}, Verified: &yes,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Land = %+v, want %+v", got, want)
	}
	log := s.git("log", "--format=%s by %an, landed by %cn%n%(trailers:separator=%x2C,unfold=true)", string(s.base)+"..main")
	run := s.session.Run.ID
	const with = ",Co-authored-by: command <command@swarm.localhost>"
	if wantLog := "does a1 by Ada, landed by Ada\nSwarm-Run: " + run + ",Swarm-Agent: a1,Swarm-Base: " + string(s.base) + with +
		"\ndoes a2 by Ada, landed by Ada\nSwarm-Run: " + run + ",Swarm-Agent: a2,Swarm-Base: " + string(s.base) + with; log != wantLog {
		t.Errorf("log = %s\nwant %s", log, wantLog)
	}
	if s.file("a") != "one\n" || s.git("status", "--porcelain") != "" {
		t.Errorf("the checkout has not followed: %s", s.git("status", "--porcelain"))
	}
	if got := s.landings(); got != "1 k true [a2 a1]" {
		t.Errorf("landings = %s", got)
	}
	if a := s.session.Owner.View().Agent("a1"); len(a.Landings) != 1 {
		t.Error("the agent does not know that its patch landed")
	}
}

// TestScriptLandNot checks that an obstacle is reported, and that nothing moves
// then.
func TestScriptLandNot(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		name   string
		stand  func(s *stage)
		give   script.Land
		who    []int // of the patches: a1, its rival a2, a3
		want   script.Landing
		reason string // a part of it
	}{
		{name: "a conflict", who: []int{0, 2, 1}, reason: "patches conflict", want: script.Landing{
			Conflicts: []script.Conflict{{Patch: "a2", With: []string{"a1"}, Paths: []string{"a"}}},
		}},
		{
			name: "a conflict with the branch", who: []int{2, 0}, reason: "patches conflict",
			stand: func(s *stage) { s.write("a", "mine\n"); s.git("commit", "-qam", "mine") },
			want:  script.Landing{Conflicts: []script.Conflict{{Patch: "a1", With: []string{}, Paths: []string{"a"}}}},
		},
		{
			name: "a dirty checkout", who: []int{0}, reason: "a",
			stand: func(s *stage) { s.write("a", "dirty\n") },
		},
		{
			name: "something under way", who: []int{0}, reason: "cannot move: ",
			stand: func(s *stage) { s.ok(os.WriteFile(s.root+"/.git/MERGE_HEAD", []byte(s.base+"\n"), 0o600)) },
		},
		{
			name: "a lock on the index", who: []int{0}, reason: "another git command",
			stand: func(s *stage) { s.ok(os.WriteFile(s.root+"/.git/index.lock", nil, 0o600)) },
		},
		{name: "a check that fails", who: []int{0}, give: script.Land{Verify: "bad"}, reason: "check bad failed: exit status 3", want: script.Landing{Verified: &no}},
		{name: "a branch that moves meanwhile", who: []int{0}, give: script.Land{Verify: "move", Into: "side"}, reason: "refs/heads/side moved underneath", want: script.Landing{Ref: "refs/heads/side", Verified: new(true)},
			stand: func(s *stage) {
				s.session.Sandbox.Settings.Sandbox, s.session.Sandbox.Backend = isolation.SandboxOff, worktree.Linked
			}},
		{
			name: "rejected", who: []int{2, 0}, reason: "a1 was rejected: too long",
			stand: func(s *stage) {
				_, err := s.session.Owner.Append(&event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Rejected, Reason: "too long"})
				s.ok(err)
			},
		},
		{
			name: "there already", who: []int{0}, reason: "main holds all of it already",
			stand: func(s *stage) { s.write("a", "one\n"); s.git("commit", "-qam", "mine") },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "a", "1\n", "b", "1\n")
			s.git("branch", "side")
			patches := []workflow.Patch{
				s.patch("a1", string(s.base), "a", "one\n"), s.patch("a2", string(s.base), "a", "rival\n"), s.patch("a3", string(s.base), "b", "two\n"),
			}
			s.use(engine.Config{Checks: map[string]string{
				"bad":  "exit 3",
				"move": "PATH=${PATH#*:} git --git-dir=" + s.root + "/.git update-ref refs/heads/side " + patches[2].Commit,
			}})
			if tt.stand != nil {
				tt.stand(s)
			}
			before := s.git("rev-parse", "main")
			var given []workflow.Patch
			for _, i := range tt.who {
				given = append(given, patches[i])
			}
			got, err := s.land("k", tt.give, given...)
			s.ok(err)
			if !strings.Contains(got.Reason, tt.reason) || got.Reason == "" {
				t.Errorf("Reason = %q, want %q", got.Reason, tt.reason)
			}
			want := tt.want
			want.Reason, want.Applied = got.Reason, []string{}
			if want.Ref == "" {
				want.Ref = "refs/heads/main"
			}
			named := map[string]string{"a1": patches[0].Commit, "a2": patches[1].Commit}
			for i, c := range want.Conflicts {
				want.Conflicts[i].Patch = named[c.Patch]
				for k, with := range c.With {
					c.With[k] = named[with]
				}
			}
			if want.Conflicts == nil {
				want.Conflicts = []script.Conflict{}
			}
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("Land = %+v, want %+v", *got, want)
			}
			if after := s.git("rev-parse", "main"); after != before {
				t.Errorf("main moved from %s to %s", before, after)
			}
			if v := s.session.Owner.View(); len(v.Landings) > 1 || len(v.Landings) == 1 && v.Landings[0].Stands() {
				t.Errorf("landings = %s, want none that stands", s.landings())
			}
			if left := s.spaces(); len(left) > 0 {
				t.Errorf("workspaces are left: %v", left)
			}
		})
	}
}

func TestScriptLandInto(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	got, err := s.land("k", script.Land{Into: "new/branch"}, one)
	if err != nil || !got.Landed || got.Ref != "refs/heads/new/branch" || got.Verified != nil || s.show("new/branch", "a") != "one" {
		t.Errorf("Land = %+v, %v, want it on a new branch", got, err)
	}
	if at := s.git("rev-parse", "main"); at != string(s.base) {
		t.Error("main moved")
	}
	// The same patch on another branch is another landing.
	if got, err := s.land("k2", script.Land{}, one); err != nil || !got.Landed || s.git("rev-parse", "main") == string(s.base) {
		t.Errorf("Land = %+v, %v, want it on main too", got, err)
	}
}

func TestScriptLandRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	other := one
	other.Patch = &task.Patch{Commit: s.commitOn(string(s.base), "a", "x\n"), Base: string(s.base)}
	gone := workflow.Patch{Agent: "a2", Patch: &task.Patch{Commit: strings.Repeat("1", 40), Base: string(s.base), File: "f"}}
	for _, tt := range []struct {
		give    script.Land
		patches []workflow.Patch
		code    script.Code
		want    string
	}{
		{script.Land{}, nil, script.CodeOption, "land: no patches are given"},
		{script.Land{}, []workflow.Patch{one, one}, script.CodeOption, "land: patch " + view.Git10(one.Commit) + " of a1 is named twice"},
		{script.Land{}, []workflow.Patch{one, other}, script.CodeOption, "land: two patches of a1 are named, and each holds all of its work"},
		{script.Land{}, []workflow.Patch{one, gone}, script.CodeUnknown, "commit 1111111111 of patch 1111111111 is gone from the repository; its text is still in f"},
		{script.Land{Verify: "unit"}, []workflow.Patch{one}, script.CodeUnknown, `land: verify: there is no check "unit"; the configuration has no table [checks]`},
		{script.Land{Into: "-x"}, []workflow.Patch{one}, script.CodeOption, `land: into is "-x", which is not a name that a branch can have`},
		{script.Land{Into: "a b"}, []workflow.Patch{one}, script.CodeOption, `land: into is "a b", which is not a name that a branch can have`},
		{script.Land{Into: "refs/tags/v1"}, []workflow.Patch{one}, script.CodeOption, `land: into is "refs/tags/v1", which is not a name that a branch can have`},
	} {
		_, err := s.land("k", tt.give, tt.patches...)
		scriptRefusal(t, err, tt.code, tt.want)
	}
	s.git("checkout", "-q", "--detach")
	_, err := s.land("k", script.Land{}, one)
	scriptRefusal(t, err, script.CodeOption, "land: no branch is checked out here; say which one is meant with into")
	if got := s.landings(); got != "" {
		t.Errorf("landings = %s, want none", got)
	}
}

// TestScriptLandOfAgents: the script of a run that an agent started moves
// nothing of the user's.
func TestScriptLandOfAgents(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	s.getenv["SWARM_RUN"], s.getenv["SWARM_AGENT"] = s.session.Run.ID, "a1"
	_, err := s.land("k", script.Land{}, one)
	scriptRefusal(t, err, script.CodePolicy, "land: landing is for people: SWARM_AGENT is set, so this is an agent")
	if at := s.git("rev-parse", "main"); at != string(s.base) {
		t.Error("main moved")
	}
}

// TestScriptLandCut ends a landing between its records and asks for it again
// under the next owner of the run.
func TestScriptLandCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, at string // the step at which the owner dies
		moved    bool   // whether the branch had moved by then
		want     string // of the landings afterwards
	}{
		{"before the intent", "before intended", false, "1 k true [a1]"},
		{"after the intent", "after intended", false, "1 k false [a1]; 2 k true [a1]"},
		{"before the outcome", "before landed", true, "1 k true [a1]"},
		{"after the outcome", "after landed", true, "1 k true [a1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "a", "1\n")
			one := s.patch("a1", string(s.base), "a", "one\n")
			s.use(engine.Config{Checks: map[string]string{"good": "true"}})
			dead := false
			s.at(func(name string) error {
				// Steps of the journal are "before 7 landed".
				f := strings.Fields(name)
				if dead = dead || len(f) == 3 && f[0]+" "+f[2] == tt.at; dead {
					return errors.New("killed")
				}
				return nil
			})
			if got, err := s.land("k", script.Land{Verify: "good"}, one); err == nil {
				t.Fatalf("Land = %+v after its death", got)
			}
			cut := s.git("rev-parse", "main")
			if moved := cut != string(s.base); moved != tt.moved {
				t.Fatalf("main has moved: %t, want %t", moved, tt.moved)
			}
			s.again()
			got, err := s.land("k", script.Land{Verify: "good"}, one)
			s.ok(err)
			at := s.git("rev-parse", "main")
			if !got.Landed || got.Commit != at || got.Verified == nil || !*got.Verified || !reflect.DeepEqual(got.Applied, list(one)) {
				t.Errorf("Land = %+v, want it landed at %s", got, at)
			}
			if tt.moved && at != cut || s.git("rev-parse", "main~1") != string(s.base) {
				t.Errorf("main is at %s: the patch landed twice", at)
			}
			if got := s.landings(); got != tt.want {
				t.Errorf("landings = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestScriptLandKeys checks that a key stands for a single landing, as long as
// that stands.
func TestScriptLandKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	first, err := s.land("k", script.Land{}, one)
	s.ok(err)
	s.write("c", "more\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "more")
	s.again()
	if again, err := s.land("k", script.Land{}, one); err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("Land = %+v, %v, want %+v again", again, err, first)
	}
	if other, err := s.land("other", script.Land{}, one); err != nil || other.Landed || other.Reason != "main holds all of it already" {
		t.Errorf("Land of another key = %+v, %v", other, err)
	}
	s.git("reset", "-q", "--hard", first.Commit)
	b, err := session.Open(t.Context(), s.place, s.session.Run, s.owned())
	s.ok(err)
	_, err = b.Lander().Undo(t.Context(), 0)
	s.ok(err)
	if anew, err := s.land("k", script.Land{}, one); err != nil || !anew.Landed || s.file("a") != "one\n" {
		t.Errorf("Land after an undo = %+v, %v, want it anew", anew, err)
	}
	if got := s.landings(); got != "1 k true [a1]; 2  true []; 3 k true [a1]" {
		t.Errorf("landings = %s", got)
	}
}

// owned is the owner of the run as a command that has just taken it.
func (s *stage) owned() *store.Owner {
	s.Helper()
	s.again()
	return s.session.Owner
}
