package runcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
)

func TestScriptText(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	p := s.patch("a1", string(s.base), "a", "2 \xe9\n")
	got, err := s.tools.Text(t.Context(), p.Patch)
	if want := strings.ReplaceAll(s.git("diff", "--full-index", p.Base, p.Commit), "\xe9", "\uFFFD") + "\n"; got != want || err != nil {
		t.Errorf("Text = %q, %v, want %q", got, err, want)
	}
	gone := *p.Patch
	gone.Commit = strings.Repeat("1", 40)
	_, err = s.tools.Text(t.Context(), &gone)
	scriptRefusal(t, err, script.CodeUnknown,
		"commit 1111111111 of patch 1111111111 is gone from the repository; its text is still in the patch file")
	large := s.patch("a2", string(s.base), "large", strings.Repeat("0123456\n", 8<<20/8))
	_, err = s.tools.Text(t.Context(), large.Patch)
	scriptRefusal(t, err, script.CodeLimit, fmt.Sprintf(
		"the text of patch %s is longer than 8.0 MiB; its files and its stat say what it holds", view.Git10(large.Commit)))
}

// TestScriptTextRunsNothing reads a repository whose configuration an agent
// wrote, with programs for the changed files.
func TestScriptTextRunsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	p := s.patch("a1", string(s.base), "a", "2\n", ".gitattributes", "* diff=x\n")
	before, err := s.tools.Text(t.Context(), p.Patch)
	s.ok(err)
	mark := s.home + "/ran"
	for k, v := range map[string]string{
		"diff.x.command": "touch " + mark, "diff.x.textconv": "touch " + mark + "; cat", "diff.external": "touch " + mark,
		"diff.context": "0", "diff.noprefix": "true", "diff.algorithm": "patience", "diff.orderFile": mark,
	} {
		s.git("config", k, v)
	}
	if after, err := s.tools.Text(t.Context(), p.Patch); after != before || err != nil {
		t.Errorf("Text = %q, %v, want %q", after, err, before)
	}
	if fspath.Exists(mark) {
		t.Error("Text ran what the configuration names")
	}
}

// list are the commits of patches.
func list(patches ...workflow.Patch) []string {
	commits := []string{}
	for _, p := range patches {
		commits = append(commits, p.Commit)
	}
	return commits
}

func TestScriptMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n", "b", "1\n", "c", "1\n")
	base := string(s.base)
	one := s.patch("a1", base, "a", "one\n")
	two := s.patch("a2", base, "b", "two\n")
	rival := s.patch("a3", base, "a", "rival\n", "c", "rival\n")
	same := s.patch("a4", base, "a", "one\n")
	for _, tt := range []struct {
		name    string
		onto    string
		patches []workflow.Patch
		applied []string
		left    []script.Conflict
		files   string // a, b and c of the tree
	}{
		{"nothing", base, nil, []string{}, nil, "1 1 1"},
		{"two", base, []workflow.Patch{one, two}, list(one, two), nil, "one two 1"},
		{
			"a conflict", base, []workflow.Patch{one, rival, two}, list(one, two),
			[]script.Conflict{{Patch: rival.Commit, With: list(one), Paths: []string{"a"}}}, "one two 1",
		},
		{
			"a conflict with what it goes onto", rival.Commit, []workflow.Patch{one, two}, list(two),
			[]script.Conflict{{Patch: one.Commit, With: []string{}, Paths: []string{"a"}}}, "rival two rival",
		},
		{"there before", one.Commit, []workflow.Patch{one, two}, list(one, two), nil, "one two 1"},
		{"the same twice", base, []workflow.Patch{one, same}, list(one, same), nil, "one 1 1"},
		{"all there before", one.Commit, []workflow.Patch{same}, list(same), nil, "one 1 1"},
	} {
		got, err := s.tools.Merge(t.Context(), workflow.MergeRequest{Onto: tt.onto, Patches: tt.patches})
		if err != nil {
			t.Errorf("%s: Merge: %v", tt.name, err)
			continue
		}
		files := strings.Join([]string{s.show(got.Tree, "a"), s.show(got.Tree, "b"), s.show(got.Tree, "c")}, " ")
		if !reflect.DeepEqual(got.Applied, tt.applied) || len(got.Conflicts)+len(tt.left) > 0 && !reflect.DeepEqual(got.Conflicts, tt.left) || files != tt.files {
			t.Errorf("%s: Merge = %+v with %s, want %q, %+v, %s", tt.name, got, files, tt.applied, tt.left, tt.files)
		}
		if got.Conflicts == nil {
			t.Errorf("%s: Conflicts is nil, which is null in JSON", tt.name)
		}
	}
	if at := s.git("rev-parse", "main"); at != base {
		t.Errorf("main is at %s, and was at %s", at, base)
	}
}

// TestScriptMergeAgain: the same patches give the same commit, under another
// owner of the run too, and it outlives a collection of garbage.
func TestScriptMergeAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	r := workflow.MergeRequest{Onto: string(s.base), Patches: []workflow.Patch{
		s.patch("a1", string(s.base), "b", "1\n"), s.patch("a2", string(s.base), "c", "1\n"),
	}}
	first, err := s.tools.Merge(t.Context(), r)
	s.ok(err)
	ref := "refs/swarm/" + s.session.Run.ID + "/merged/" + first.Tree
	if at := s.git("--git-dir", s.place.Repo.RefsDir(), "rev-parse", "--verify", ref); at != first.Tree {
		t.Errorf("%s is at %s, want %s", ref, at, first.Tree)
	}
	s.git("config", "user.name", "Somebody else")
	s.git("gc", "-q", "--prune=now")
	s.again()
	for range 2 {
		again, err := s.tools.Merge(t.Context(), r)
		if err != nil || again.Tree != first.Tree {
			t.Errorf("Merge = %+v, %v, want tree %s again", again, err, first.Tree)
		}
	}
	if refs := s.git("--git-dir", s.place.Repo.RefsDir(), "for-each-ref", "--format=%(refname)", "refs/swarm/"+s.session.Run.ID+"/merged/"); refs != ref {
		t.Errorf("refs = %s, want %s alone", refs, ref)
	}
	// A merged tree is a base of further patches, which merge onto it.
	next := s.patch("a3", first.Tree, "b", "2\n")
	more, err := s.tools.Merge(t.Context(), workflow.MergeRequest{Onto: first.Tree, Patches: []workflow.Patch{next}})
	if err != nil || s.show(more.Tree, "b") != "2" || s.show(more.Tree, "c") != "1" {
		t.Errorf("Merge onto a merged tree = %+v, %v", more, err)
	}
	left, err := os.ReadDir(filepath.Join(s.session.Run.Dir, "script"))
	s.ok(err)
	if len(left) != 1 { // the object store for reads
		t.Errorf("the folder of the tools holds %v", left)
	}
}

func TestScriptMergeRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "b", "1\n")
	gone := workflow.Patch{Agent: "a2", Patch: &task.Patch{Commit: strings.Repeat("1", 40), Base: string(s.base), File: "f"}}
	for _, tt := range []struct {
		give workflow.MergeRequest
		code script.Code
		want string
	}{
		{workflow.MergeRequest{Onto: string(s.base), Patches: []workflow.Patch{one, one}}, script.CodeOption, "merge: patch " + view.Git10(one.Commit) + " of a1 is named twice"},
		{workflow.MergeRequest{Onto: string(s.base), Patches: []workflow.Patch{gone}}, script.CodeUnknown, "commit 1111111111 of patch 1111111111 is gone from the repository; its text is still in f"},
		{workflow.MergeRequest{Onto: strings.Repeat("2", 40), Patches: []workflow.Patch{one}}, script.CodeUnknown, `merge: onto "` + strings.Repeat("2", 40) + `" is not a commit of this repository`},
		{workflow.MergeRequest{Onto: "HEAD", Patches: []workflow.Patch{one}}, script.CodeUnknown, `merge: onto "HEAD" is not a commit of this repository`},
	} {
		_, err := s.tools.Merge(t.Context(), tt.give)
		scriptRefusal(t, err, tt.code, tt.want)
	}
}

func TestScriptResolve(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	base := string(s.base)
	p := s.patch("a1", base, "a", "2\n")
	s.git("branch", "feature/x")
	s.git("branch", "both")
	s.git("tag", "-a", "-m", "t", "v1.0", p.Commit)
	s.git("tag", "both", p.Commit)
	s.git("update-ref", "refs/remotes/origin/next", p.Commit)
	for give, want := range map[string]string{
		base: base, p.Commit: p.Commit, "main": base, "feature/x": base, "v1.0": p.Commit, "both": base, "origin/next": p.Commit,
	} {
		commit, tree, err := s.tools.Resolve(t.Context(), give)
		if err != nil || commit != want || tree != s.git("rev-parse", want+"^{tree}") {
			t.Errorf("Resolve(%q) = %s, %s, %v, want %s and its tree", give, commit, tree, err, want)
		}
	}
	names := " names no commit: give the whole id of one, or the name of a branch or a tag"
	for give, want := range map[string]string{
		"":                                `""` + names,
		"HEAD":                            `"HEAD"` + names,
		"-x":                              `"-x"` + names,
		"--all":                           `"--all"` + names,
		"main~1":                          `"main~1"` + names,
		"main^":                           `"main^"` + names,
		"main:a":                          `"main:a"` + names,
		"main@{1}":                        `"main@{1}"` + names,
		"a..b":                            `"a..b"` + names,
		"a\nb":                            `"a\nb"` + names,
		"a\x00b":                          `"a\x00b"` + names,
		"mian":                            `there is no branch and no tag "mian"; did you mean "main"?`,
		"elsewhere":                       `there is no branch and no tag "elsewhere"`,
		base[:10]:                         `there is no branch and no tag "` + base[:10] + `"`,
		strings.Repeat("1", 40):           `"` + strings.Repeat("1", 40) + `" is not a commit of this repository`,
		s.git("rev-parse", "HEAD:a"):      `"` + s.git("rev-parse", "HEAD:a") + `" is not a commit of this repository`,
		s.git("rev-parse", "HEAD^{tree}"): `"` + s.git("rev-parse", "HEAD^{tree}") + `" is not a commit of this repository`,
		strings.Repeat("1", 64):           `"` + strings.Repeat("1", 64) + `" is not a commit of this repository`,
	} {
		_, _, err := s.tools.Resolve(t.Context(), give)
		scriptRefusal(t, err, script.CodeUnknown, want)
	}
}
