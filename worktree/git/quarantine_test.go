package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublishSurvivesHousekeeping runs the user's between all steps.
func TestPublishSurvivesHousekeeping(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, "--object-format="+format)
			base := g.commit("a", "a\n")
			q := g.quarantine(g.frozen())
			g.housekeeping()
			c := g.newCommit(q, base, "n", "only here\n")
			g.housekeeping()
			g.ok(q.Gather(t.Context(), c, base))
			g.housekeeping()
			if out, err := exec.Command("git", "-C", g.root, "cat-file", "-e", string(c)).CombinedOutput(); err == nil {
				t.Errorf("the repository has it before it is published: %s", out)
			}
			if !q.Has(t.Context(), c) || q.Has(t.Context(), Hash(strings.Repeat("1", len(c)))) {
				t.Error("Has is wrong about what the quarantine holds")
			}
			p := PublishRequest{Refs: []RefUpdate{{Ref: "refs/swarm/x/a", New: c}}, Have: []Hash{base}, Message: "m"}
			g.ok(q.Publish(t.Context(), p))
			g.ok(q.Discard())
			g.housekeeping()
			g.git("fsck", "--strict", "--connectivity-only")
			if got := g.git("cat-file", "blob", "refs/swarm/x/a:n"); got != "only here" {
				t.Errorf("published %q", got)
			}
			if kept, _ := filepath.Glob(filepath.Join(g.root, ".git/objects/pack/*.keep")); len(kept) > 0 {
				t.Errorf("left %q", kept)
			}
			var moved *RefMovedError
			q = g.quarantine(q.repo.Thaw(filepath.Join(g.home, "frozen")))
			if err := q.Publish(t.Context(), p); !errors.As(err, &moved) {
				t.Errorf("Publish again = %v, want a RefMovedError", err)
			}
		})
	}
}

// TestGatherMissesNothing must fail where an object is gone.
func TestGatherMissesNothing(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	base := g.commit("a", "a\n")
	q := g.quarantine(g.frozen())
	// Git does not write objects again that the repository has.
	g.write("loose", "loose\n")
	blob := g.git("hash-object", "-w", "loose")
	c := g.newCommit(q, base, "n", "loose\n")
	g.ok(os.Remove(filepath.Join(g.root, ".git/objects", blob[:2], blob[2:])))
	var bad *Error
	if err := q.Gather(t.Context(), c, base); !errors.As(err, &bad) {
		t.Errorf("Gather = %v, want git's error", err)
	}
}

func TestCommitTree(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	base := g.commit("a", "a\n")
	q := g.quarantine(g.frozen())
	c := g.newCommit(q, base, "n", "n\n")
	out, err := q.Run(t.Context(), Cmd{Args: []string{"log", "-1", "--format=%an <%ae> %cn <%ce> %P %B", string(c)}})
	if want := "swarm <a@b> AB <c@d> " + string(base) + " m\n\n"; err != nil || string(out) != want {
		t.Errorf("commit = %q, %v, want %q", out, err, want)
	}
	if p, ok := g.repo().User(t.Context()); !ok || p.Name != "User" || p.Email != "user@example.com" {
		t.Errorf("User = %+v, %v", p, ok)
	}
	g.git("config", "--unset", "user.email")
	if _, ok := g.repo().User(t.Context()); ok {
		t.Error("User without an address: want none")
	}
}

func FuzzQuotePath(f *testing.F) {
	for _, s := range []string{"/a b", `/a"b`, "#x", "/n\nl", `/b\s`, "\"", "/\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		q := quotePath(path)
		if strings.Contains(q, "\n") || strings.HasPrefix(q, "#") {
			t.Fatalf("quotePath(%q) = %q ends the line or is a comment", path, q)
		}
		if back := unquote(q); back != path {
			t.Fatalf("quotePath(%q) = %q, which reads as %q", path, q, back)
		}
	})
}

// unquote parses a line of an alternates file as git does.
func unquote(q string) string {
	if !strings.HasPrefix(q, `"`) {
		return q
	}
	var b strings.Builder
	for i := 1; i < len(q)-1; i++ {
		if q[i] == '\\' {
			i++
			if q[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(q[i])
	}
	return b.String()
}
