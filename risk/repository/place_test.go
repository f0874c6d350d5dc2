package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"
)

func TestPlaceTrees(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	at := func(name string) string { return filepath.Join(filepath.Dir(s.root), name) }
	s.commit("a", "1\n")
	s.git("worktree", "add", "-q", "-b", "side", at("side"))
	s.git("worktree", "add", "-q", "--detach", at("gone"))
	s.ok(os.RemoveAll(at("gone")))
	// A linked work tree that was moved without git, and a work tree whose .git
	// file was made to lead to the common git dir.
	s.git("worktree", "add", "-q", "--detach", at("old"))
	s.git("worktree", "add", "-q", "--detach", at("repointed"))
	s.ok(os.Rename(at("old"), at("moved")), os.Mkdir(at("sub"), 0o700),
		os.WriteFile(at("repointed/.git"), []byte("gitdir: "+s.root+"/.git\n"), 0o600))
	// A repository of its own in a folder that is called like a work tree's.
	likely := at("repo/.git/worktrees/likely")
	s.ok(os.MkdirAll(likely, 0o700))
	s.gitIn(likely, "init", "-q", "-b", "main", "--template=")
	s.git("clone", "-q", "--bare", s.root, at("bare.git"))
	s.gitIn(at("bare.git"), "worktree", "add", "-q", at("frombare"), "main")
	s.git("init", "-q", "-b", "main", "--template=", "--separate-git-dir", at("apart.git"), at("apart"))

	common := s.root + "/.git"
	for _, tt := range []struct {
		name, dir, root, gitDir, commonDir string
		forced, shared                     bool
		others                             []string
	}{
		{"the main one", s.root, s.root, common, common, false, false, []string{at("side"), at("repointed")}},
		{"forced", s.root, s.root, common, common, true, true, []string{at("side"), at("repointed")}},
		{"linked", at("side"), at("side"), common + "/worktrees/side", common, false, true, []string{s.root, at("repointed")}},
		{"moved", at("moved"), at("moved"), common + "/worktrees/old", common, false, true, []string{s.root, at("side"), at("repointed")}},
		{"repointed", at("repointed"), at("repointed"), common, common, false, true, []string{s.root, at("side")}},
		{"named like one", likely, likely, likely + "/.git", likely + "/.git", false, false, nil},
		{"bare", at("bare.git"), "", at("bare.git"), at("bare.git"), false, false, []string{at("frombare")}},
		{"linked to a bare one", at("frombare"), at("frombare"), at("bare.git/worktrees/frombare"), at("bare.git"), false, true, nil},
		{"with its git dir elsewhere", at("apart"), at("apart"), at("apart.git"), at("apart.git"), false, false, nil},
	} {
		got := s.judged(tt.dir, Request{Linked: tt.forced})
		slices.Sort(got.Others)
		slices.Sort(tt.others)
		if got.Root != tt.root || got.GitDir != tt.gitDir || got.CommonDir != tt.commonDir || got.Shared != tt.shared || !slices.Equal(got.Others, tt.others) {
			t.Errorf("%s: %s, %s, %s, shared %v, others %q\nwant %s, %s, %s, %v, %q", tt.name,
				got.Root, got.GitDir, got.CommonDir, got.Shared, got.Others, tt.root, tt.gitDir, tt.commonDir, tt.shared, tt.others)
		}
		if got.Home != s.home {
			t.Errorf("%s: Home = %s", tt.name, got.Home)
		}
	}
}

func TestPlaceBranch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	branch := func(want string) {
		t.Helper()
		if got := s.judged(s.root, Request{}); got.Branch != want || got.Upstream != "" || got.PushDefault != "" || got.Remotes != nil {
			t.Errorf("%+v, want branch %q, and nothing of remotes", got, want)
		}
	}
	branch("main") // not born yet
	s.commit()
	s.git("switch", "-q", "-c", "feature/x")
	branch("feature/x")
	s.git("switch", "-q", "--detach")
	branch("")
}

func TestTemporary(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	got := temporary(link)
	for _, want := range []string{"/tmp", link, dir} {
		if !slices.Contains(got, want) {
			t.Errorf("temporary(%q) = %q, has no %q", link, got, want)
		}
	}
	for _, give := range []string{"", "/", "relative"} {
		if got := temporary(give); !slices.Equal(got, temporary("/tmp")) {
			t.Errorf("temporary(%q) = %q", give, got)
		}
	}
}

func TestPlacePushes(t *testing.T) {
	t.Parallel()
	const origin = "remote.origin.url=https://example.com/x.git"
	for _, tt := range []struct{ name, config, upstream, remote, remotes string }{
		{"one remote", origin, "", "", "origin plain https://example.com/x.git"},
		{"an upstream", origin + " branch.topic.remote=origin branch.topic.merge=refs/heads/feature/x branch.main.remote=other", "origin/feature/x", "origin", "origin plain https://example.com/x.git"},
		{"no branch upstream", origin + " branch.topic.remote=origin branch.topic.merge=refs/for/main", "origin/refs/for/main", "origin", "origin plain https://example.com/x.git"},
		{"the repository upstream", "branch.topic.remote=. branch.topic.merge=refs/heads/main", "./main", ".", ""},
		{"a push remote", origin + " remote.me.url=/srv/me.git branch.topic.remote=origin branch.topic.merge=refs/heads/topic branch.topic.pushremote=me", "origin/topic", "me", "origin plain https://example.com/x.git; me plain /srv/me.git"},
		{"a default", origin + " branch.topic.remote=origin remote.pushdefault=me", "", "me", "origin plain https://example.com/x.git"},
		{"a push remote before the default", "remote.pushdefault=me branch.topic.pushremote=you", "", "you", ""},
		{"another branch's", "branch.TOPIC.pushremote=me", "", "", ""},
		{"a mirror", origin + " remote.origin.mirror=true", "", "", "origin odd https://example.com/x.git"},
		{"no mirror", origin + " remote.origin.mirror=false", "", "", "origin plain https://example.com/x.git"},
		{"a mirror without a value", origin + " remote.origin.mirror", "", "", "origin odd https://example.com/x.git"},
		{"refspecs", origin + " remote.origin.push=refs/heads/*:refs/heads/*", "", "", "origin odd https://example.com/x.git"},
		{"a program", origin + " remote.origin.receivepack=x", "", "", "origin odd https://example.com/x.git"},
		{"a helper", "remote.origin.url=ext::sh", "", "", "origin odd ext::sh"},
		{"a push address", origin + " remote.origin.pushurl=https://u:secret@example.com/y.git", "", "", "origin plain https://example.com/y.git"},
		{"two addresses", origin + " remote.origin.url=https://example.com/z.git", "", "", "origin odd https://example.com/z.git"},
		{"no address", "remote.origin.fetch=x", "", "", "origin odd "},
		{"rewritten", origin + " url.git@example.org:.insteadof=https://example.com/", "", "", "origin odd https://example.com/x.git"},
		{"rewritten for pushes", origin + " url.git@example.org:.pushinsteadof=https://", "", "", "origin odd https://example.com/x.git"},
		{"another rewritten", origin + " url.git@example.org:.insteadof=https://example.org/", "", "", "origin plain https://example.com/x.git"},
		{"itself", "remote.origin.url=.", "", "", "origin odd ."},
		{"its git dir", "remote.origin.url=../repo/.git/", "", "", "origin odd ../repo/.git/"},
		{"its folder", "remote.origin.url=file://ROOT", "", "", "origin odd file://ROOT"},
		{"matching", origin + " push.default=matching", "", "", "origin odd https://example.com/x.git"},
		{"no longer matching", origin + " push.default=matching push.default=simple", "", "", "origin plain https://example.com/x.git"},
		{"tags", origin + " push.followtags=true", "", "", "origin odd https://example.com/x.git"},
		{"options", origin + " push.pushoption=merge_request.create", "", "", "origin odd https://example.com/x.git"},
		{"options taken back", origin + " push.pushoption=a push.pushoption=", "", "", "origin plain https://example.com/x.git"},
		{"submodules, of which there are none", origin + " push.recursesubmodules=on-demand", "", "", "origin plain https://example.com/x.git"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.git("symbolic-ref", "HEAD", "refs/heads/topic")
			for kv := range strings.FieldsSeq(strings.ReplaceAll(tt.config, "ROOT", s.root)) {
				s.addConfig(kv)
			}
			got := s.judged(s.root, Request{})
			if remotes := described(got.Remotes); got.Upstream != tt.upstream || got.PushDefault != tt.remote || remotes != strings.ReplaceAll(tt.remotes, "ROOT", s.root) {
				t.Errorf("upstream %q, pushes to %q, remotes %q\nwant %q, %q, %q", got.Upstream, got.PushDefault, remotes, tt.upstream, tt.remote, tt.remotes)
			}
		})
	}
}

// addConfig writes an entry to the configuration. It does not use git for an
// entry without a value, which git cannot write.
func (s *stage) addConfig(kv string) {
	s.Helper()
	key, value, given := strings.Cut(kv, "=")
	if given {
		s.git("config", "--add", key, value)
		return
	}
	f, err := os.OpenFile(filepath.Join(s.root, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	s.ok(err)
	parts := strings.Split(key, ".")
	_, err = fmt.Fprintf(f, "[%s %q]\n\t%s\n", parts[0], parts[1], parts[2])
	s.ok(err, f.Close())
}

func described(all []risk.Remote) string {
	var words []string
	for _, r := range all {
		plain := "odd"
		if r.Plain {
			plain = "plain"
		}
		words = append(words, r.Name+" "+plain+" "+r.URL)
	}
	return strings.Join(words, "; ")
}

// TestPlaceModules: with submodules a push may push other repositories as well.
func TestPlaceModules(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.git("config", "remote.origin.url", "https://example.com/x.git")
	s.git("config", "submodule.recurse", "true")
	s.write(".gitmodules", "")
	if got := described(s.judged(s.root, Request{}).Remotes); got != "origin odd https://example.com/x.git" {
		t.Errorf("Remotes = %q", got)
	}
	s.git("config", "push.recurseSubmodules", "check")
	s.git("config", "--unset", "submodule.recurse")
	if got := described(s.judged(s.root, Request{}).Remotes); got != "origin plain https://example.com/x.git" {
		t.Errorf("Remotes = %q", got)
	}
}
