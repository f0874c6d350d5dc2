package runcmd

import (
	"strings"
	"testing"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/script"
	"agentswarm/swarm/workflow"
)

// linkedPatch is a patch that records a commit of a submodule which exists
// nowhere.
func (s *stage) linkedPatch() workflow.Patch {
	s.Helper()
	head := s.git("rev-parse", "HEAD")
	s.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", len(head))+",sub")
	linked := s.git("commit-tree", "-p", head, "-m", "linked", s.git("write-tree"))
	s.git("update-index", "--force-remove", "sub")
	p := s.patch("a1", linked, "a", "one\n")
	p.Base = head
	return p
}

// TestScriptLandBlames: a landing that a patch makes impossible names the patch, and
// the script goes on.
func TestScriptLandBlames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		patch func(s *stage) workflow.Patch
		want  string
	}{
		{"a commit of a submodule is missing", (*stage).linkedPatch, `a1: it records commit 1111111111 of submodule "sub"`},
		{"a required filter fails", func(s *stage) workflow.Patch {
			s.git("config", "filter.picky.clean", "cat")
			s.git("config", "filter.picky.smudge", "false")
			s.git("config", "filter.picky.required", "true")
			return s.patch("a1", string(s.base), "n.x", "one\n")
		}, `a1: your filter "picky" failed on "n.x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "a", "1\n", "b", "1\n", ".gitattributes", "*.x filter=picky\n")
			first := tt.patch(s)
			got, err := s.land("k", script.Land{}, first, s.patch("a2", string(s.base), "b", "two\n"))
			s.ok(err)
			if got.Landed || !strings.HasPrefix(got.Reason, tt.want) || strings.Contains(got.Reason, "a2") {
				t.Errorf("Land = %+v, want the reason %s", *got, tt.want)
			}
			if at := s.git("rev-parse", "main"); at != string(s.base) {
				t.Errorf("main moved to %s", at)
			}
		})
	}
}

// TestScriptLandVerifyEnv: the check of a landing knows the tip of the branch and the
// paths that differ from it, as that of swarm merge does.
func TestScriptLandVerifyEnv(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n", "b", "1\n")
	p := s.patch("a1", string(s.base), "a", "one\n")
	s.write("b", "mine\n")
	s.git("commit", "-qam", "mine")
	s.use(engine.Config{Checks: map[string]string{
		"env": `test "$SWARM_TIP" = ` + s.git("rev-parse", "main") + ` && test "$(cat "$SWARM_CHANGED")" = a`,
	}})
	got, err := s.land("k", script.Land{Verify: "env"}, p)
	s.ok(err)
	if !got.Landed {
		t.Errorf("Land = %+v", *got)
	}
}

// TestScriptCheckMissingModule: a check does not run without a submodule commit that
// the checked commit records.
func TestScriptCheckMissingModule(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	p := s.linkedPatch()
	s.use(engine.Config{Checks: map[string]string{"unit": "true"}})
	got, err := s.checkOn(p.Commit, "unit", 0)
	if err == nil || !strings.Contains(err.Error(), `check unit: it records commit 1111111111 of submodule "sub"`) {
		t.Errorf("Check = %+v, %v", got, err)
	}
}
