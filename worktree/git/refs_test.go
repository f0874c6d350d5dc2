package git

import (
	"errors"
	"maps"
	"testing"
)

func TestRefs(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	one := g.commit("a", "1\n")
	two := g.commit("a", "2\n")
	r, ctx := g.repo(), t.Context()
	const x, y = "refs/swarm/k3x9q2/base", "refs/swarm/k3x9q2/a/a1/1"
	g.ok(r.UpdateRefs(ctx, "make", RefUpdate{Ref: x, New: one}, RefUpdate{Ref: y, New: two}))
	want := map[string]Hash{x: one, y: two}
	tests := []struct {
		name    string
		updates []RefUpdate
		moved   bool
		want    map[string]Hash
	}{
		{name: "it exists", updates: []RefUpdate{{Ref: x, New: two}}, moved: true, want: want},
		{name: "it is elsewhere", updates: []RefUpdate{{Ref: x, New: two, Old: two}}, moved: true, want: want},
		{name: "one of two moved", updates: []RefUpdate{{Ref: x, New: two, Old: one}, {Ref: y, New: one, Old: one}}, moved: true, want: want},
		{name: "delete what moved", updates: []RefUpdate{{Ref: x, Old: two}}, moved: true, want: want},
		{name: "delete what is not there", updates: []RefUpdate{{Ref: x + "2", Old: two}}, moved: true, want: want},
		{name: "swap", updates: []RefUpdate{{Ref: x, New: two, Old: one}}, want: map[string]Hash{x: two, y: two}},
		{name: "any", updates: []RefUpdate{{Ref: x, New: one, Any: true}, {Ref: y, Any: true}}, want: map[string]Hash{x: one}},
		{name: "delete", updates: []RefUpdate{{Ref: x, Old: one}}, want: map[string]Hash{}},
	}
	for _, tt := range tests {
		err := r.UpdateRefs(ctx, "test", tt.updates...)
		var moved *RefMovedError
		if errors.As(err, &moved) != tt.moved || (err != nil) != tt.moved {
			t.Errorf("%s: UpdateRefs = %v, want moved = %v", tt.name, err, tt.moved)
		}
		got, err := r.RefsUnder(ctx, "refs/swarm/")
		if err != nil || !maps.Equal(got, tt.want) {
			t.Errorf("%s: refs = %v, %v, want %v", tt.name, got, err, tt.want)
		}
		for ref, hash := range tt.want {
			if got, err := r.Ref(ctx, ref); err != nil || got != hash {
				t.Errorf("%s: Ref(%s) = %s, %v, want %s", tt.name, ref, got, err, hash)
			}
		}
	}
	if got, err := r.Ref(ctx, x); err != nil || got != "" {
		t.Errorf("Ref of none = %q, %v", got, err)
	}
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	r, ctx := g.repo(), t.Context()
	var none *RevError
	if _, err := r.Commit(ctx, "HEAD"); !errors.As(err, &none) {
		t.Errorf("Commit of an unborn HEAD = %v, want a RevError", err)
	}
	one := g.commit("a", "1\n")
	for _, rev := range []string{"", "-x", "--all", "none", "HEAD:a", "a\nb", "HEAD\x00", "HEAD^{tree}"} {
		if got, err := r.Commit(ctx, rev); !errors.As(err, &none) {
			t.Errorf("Commit(%q) = %s, %v, want a RevError", rev, got, err)
		}
	}
	for _, rev := range []string{"HEAD", "main", string(one), string(one[:8]), "refs/heads/main"} {
		if got, err := r.Commit(ctx, rev); err != nil || got != one {
			t.Errorf("Commit(%q) = %s, %v, want %s", rev, got, err, one)
		}
	}
	tree, err := r.TreeOf(ctx, one)
	if want := Hash(g.git("rev-parse", "HEAD^{tree}")); err != nil || tree != want {
		t.Errorf("TreeOf = %s, %v, want %s", tree, err, want)
	}
	if got, err := r.Branch(ctx); err != nil || got != "refs/heads/main" {
		t.Errorf("Branch = %q, %v", got, err)
	}
	g.git("checkout", "-q", "--detach")
	if got, err := r.Branch(ctx); err != nil || got != "" {
		t.Errorf("Branch of a detached HEAD = %q, %v", got, err)
	}
	for name, ok := range map[string]bool{
		"refs/heads/x": true, "refs/heads/a/b": true, "refs/heads/a..b": false, "refs/heads/": false, "refs/heads/a b": false,
	} {
		if err := r.CheckRef(ctx, name); (err == nil) != ok {
			t.Errorf("CheckRef(%q) = %v, want ok = %v", name, err, ok)
		}
	}
}
