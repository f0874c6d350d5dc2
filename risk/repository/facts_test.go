package repository

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentswarm/internal/fspath"
	"agentswarm/internal/testprogram"
	"agentswarm/risk"
)

func TestFactsPublished(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	f := s.judged(s.root, Request{}).Facts
	if _, known := f.Published("HEAD"); known {
		t.Error("the HEAD of an unborn branch is known to be published or not")
	}
	s.commit()
	f = s.judged(s.root, Request{}).Facts
	if published, known := f.Published("HEAD"); published || !known {
		t.Errorf("without a remote: %v, %v", published, known)
	}
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	if published, _ := f.Published("HEAD"); published {
		t.Error("it was asked for twice")
	}
	s.commit()
	f = s.judged(s.root, Request{}).Facts
	for rev, want := range map[string][2]bool{
		"HEAD": {false, true}, "HEAD~1": {true, true}, "main~1": {true, true},
		"none": {false, false}, "-x": {false, false}, "--all": {false, false}, "": {false, false}, "HEAD\n": {false, false},
	} {
		if published, known := f.Published(rev); [2]bool{published, known} != want {
			t.Errorf("Published(%q) = %v, %v, want %v", rev, published, known, want)
		}
	}
}

// TestFactsBounded: a command cannot make it start a process for each of any
// number of names.
func TestFactsBounded(t *testing.T) {
	t.Parallel()
	asked := 0
	f := &facts{
		answers:   map[gitQuestion]gitAnswer{},
		published: func(string) (bool, error) { asked++; return false, nil },
	}
	for i := range maxQuestions {
		if _, known := f.Published(fmt.Sprint(i)); !known {
			t.Fatalf("the answer to question %d is not known", i)
		}
	}
	if _, known := f.Published("one more"); known || asked != maxQuestions {
		t.Errorf("known %v, after %d questions", known, asked)
	}
	if _, known := f.Published("1"); !known {
		t.Error("an answer was forgotten")
	}
}

// TestFactsSlow: if git takes too long for a name, no other lookups wait for
// it.
func TestFactsSlow(t *testing.T) {
	t.Parallel()
	asked := 0
	f := &facts{
		answers:   map[gitQuestion]gitAnswer{},
		published: func(string) (bool, error) { asked++; return false, fmt.Errorf("git: %w", context.DeadlineExceeded) },
	}
	for _, name := range []string{"a", "b", "a"} {
		if _, known := f.Published(name); known {
			t.Errorf("what git has not said of %s is known", name)
		}
	}
	if asked != 1 {
		t.Errorf("git was asked %d times, want once", asked)
	}
}

func TestFactsFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if s.judged(s.root, Request{}).Facts.Tracked(s.root) {
		t.Error("something is tracked where there is no index")
	}
	s.commit("a", "1\n", "d/x/y", "1\n", "d-e", "1\n", "gone", "1\n")
	s.write("loose", "1\n")
	s.ok(os.Symlink("a", s.root+"/link"), os.Remove(s.root+"/gone"))
	f := s.judged(s.root, Request{}).Facts
	for path, want := range map[string]struct {
		kind    risk.PathKind
		tracked bool
	}{
		"/a": {risk.PathFile, true}, "/d": {risk.PathFolder, true}, "/d/x": {risk.PathFolder, true}, "/d/": {risk.PathFolder, true},
		"/d/x/y": {risk.PathFile, true}, "/d/x/z": {risk.PathMissing, false}, "/gone": {risk.PathMissing, true}, "/loose": {risk.PathFile, false},
		"/link": {risk.PathLink, false}, "/a/b": {risk.PathMissing, false}, "/d/../a": {risk.PathFile, true},
		"": {risk.PathFolder, true}, "/../repo/a": {risk.PathFile, true}, "/../home": {risk.PathFolder, false}, "/\x00": {risk.PathUnknown, false},
	} {
		if got := f.Path(s.root + path); got != want.kind {
			t.Errorf("Path(%q) = %v, want %v", path, got, want.kind)
		}
		if got := f.Tracked(s.root + path); got != want.tracked {
			t.Errorf("Tracked(%q) = %v, want %v", path, got, want.tracked)
		}
	}
	s.ok(os.WriteFile(s.root+"/.git/index", []byte("no index"), 0o600))
	if f := s.judged(s.root, Request{}).Facts; !f.Tracked(s.root+"/loose") || f.Tracked("/elsewhere") {
		t.Error("with an index that cannot be read, a path may be tracked, if it is below the top")
	}
}

func TestFactsRef(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.commit("file", "1\n", "beef", "1\n")
	s.git("branch", "feature/x")
	s.git("tag", "-a", "-m", "v", "v1.0")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	s.git("update-ref", "refs/other/x", "HEAD")
	id := s.git("rev-parse", "HEAD")
	tree := s.git("rev-parse", "HEAD^{tree}")
	f := s.judged(s.root, Request{}).Facts
	for name, want := range map[string]bool{
		"main": true, "feature/x": true, "heads/main": true, "refs/heads/main": true, "v1.0": true, "refs/tags/v1.0": true, "tags/v1.0": true,
		"origin/main": true, "origin": true, "HEAD": true, "HEAD~0": true, "@": true, id: true, id[:7]: true, "refs/other/x": true,
		"v1.0-0-g" + id[:7]: true,
		"feature":           false, "x": false, "refs/tags/main": false, "refs/heads/v1.0": false, "file": false, "beef": false, "HEAD~1": false, tree: false,
		"HEAD:file": false, ":/work": false, "HEAD^{/work}": false, "": false, "--all": false, "ORIG_HEAD": false, "README": false, "refs/other/y": false,
	} {
		if got := f.Ref(name); got != want {
			t.Errorf("Ref(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestFactsLocked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write("go.mod", "module x\n\ngo 1.22\n\nrequire example.com/a v1.2.0\n", "sub/deep/x", "",
		"sub/Cargo.lock", "[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\n",
		"Cargo.lock", "[[package]]\nname = \"serde\"\nversion = \"2.0.0\"\n[[package]]\nname = \"syn\"\nversion = \"2.0.0\"\n",
		"sub/package.json", `{"dependencies": {"lodash": "^4.17.0"}}`, "package-lock.json", "<<<<<<< ours",
		"sub/App.csproj", `<Project><ItemGroup><PackageReference Include="NUnit" Version="4.1.0" /></ItemGroup></Project>`,
		"../home/go.mod", "require example.com/b v1.0.0\n")
	s.ok(os.Symlink("../home", s.root+"/out"))
	f := s.judged(s.root, Request{}).Facts
	for _, tt := range []struct{ manager, folder, name, want string }{
		{"go", s.root, "example.com/a/pkg", "v1.2.0"},
		{"go", s.root + "/sub/deep", "example.com/a", "v1.2.0"},
		{"cargo", s.root + "/sub/deep", "serde", "1.0.1"},
		{"cargo", s.root + "/sub/deep", "syn", "2.0.0"},
		{"cargo", s.root, "serde", "2.0.0"},
		{"cargo", s.root + "/not/there", "serde", "2.0.0"},
		{"nuget", s.root + "/sub", "NUnit", "4.1.0"},
		{"nuget", s.root + "/sub/deep", "NUnit", "4.1.0"},
		{"nuget", s.root, "NUnit", ""},
		{"npm", s.root, "serde", ""},
		{"npm", s.root, "lodash", ""},
		{"go", s.home, "example.com/b", ""},
		{"go", s.root + "/out", "example.com/b", ""},
		{"go", "sub", "example.com/a", ""},
	} {
		for range 2 {
			if got, known := f.Locked(tt.manager, tt.folder, tt.name); got != tt.want || known != (tt.manager != "npm") {
				t.Errorf("Locked(%q, %q, %q) = %q, %v, want %q", tt.manager, tt.folder, tt.name, got, known, tt.want)
			}
		}
	}
}

// TestFactsRunNothing: git runs no program that the repository configures.
func TestFactsRunNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.commit("a", "1\n")
	ran := filepath.Join(s.home, "ran")
	program := filepath.Join(s.home, "program")
	testprogram.Write(t, program, "#!/bin/sh\ntouch '"+ran+"'\n")
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "alias.config", "remote.origin.uploadpack"} {
		s.git("config", key, program)
	}
	s.git("config", "remote.origin.url", "ssh://example.com/x.git")
	s.git("config", "remote.origin.promisor", "true")
	s.git("config", "extensions.partialClone", "origin")
	f := s.judged(s.root, Request{}).Facts
	f.Published("HEAD")
	f.Ref("0123456789012345678901234567890123456789")
	f.Tracked(s.root + "/a")
	if fspath.Exists(ran) {
		t.Error("a program of the repository was run")
	}
	// The test can fail: git would run it.
	cmd := exec.Command("git", "cat-file", "-e", "0123456789012345678901234567890123456789")
	cmd.Dir, cmd.Env = s.root, s.environ()
	if err := cmd.Run(); err == nil || !fspath.Exists(ran) {
		t.Errorf("git has not tried to fetch: %v", err)
	}
}

func BenchmarkFacts(b *testing.B) {
	f := &facts{root: b.TempDir(), tracked: func() ([]string, bool) { return []string{"a"}, true }}
	f.refs = func() (map[string]bool, bool) { return map[string]bool{"refs/heads/main": true}, true }
	for b.Loop() {
		f.Tracked(f.root + "/a")
		f.Ref("main")
		f.Path(f.root + "/a")
	}
}
