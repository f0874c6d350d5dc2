package risk

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// facts are known of a place that tests make up.
type facts struct {
	unreadable bool
	published  bool
	unknown    bool // whether anything is published
	refs       []string
	missing    []string
	files      []string
	links      []string
	leads      map[string]string
	locked     map[string]string
}

func (f *facts) Published(string) (published, known bool) { return f.published, !f.unknown }

func (f *facts) Path(path string) PathKind {
	switch {
	case slices.Contains(f.files, path):
		return PathFile
	case slices.Contains(f.links, path):
		return PathLink
	case slices.Contains(f.missing, path), strings.HasSuffix(path, "/.git"):
		return PathMissing
	}
	return PathUnknown
}
func (f *facts) Link(path string) string  { return f.leads[path] }
func (f *facts) Tracked(path string) bool { return slices.Contains(f.files, path) }
func (f *facts) Locked(manager, _, name string) (version string, known bool) {
	return f.locked[manager+" "+name], !f.unreadable
}
func (f *facts) Ref(name string) bool { return slices.Contains(f.refs, name) }

func place() Place {
	return Place{
		Root: "/repo/tree", Home: "/home/u", Tmp: []string{"/tmp"}, GitDir: "/repo/tree/.git", CommonDir: "/repo/tree/.git",
		Branch: "feature/x", Upstream: "origin/feature/x",
		Remotes: []Remote{{Name: "origin", Plain: true}, {Name: "upstream", Plain: true}, {Name: "odd"}},
		Facts: &facts{
			published: true, refs: []string{"main", "feature/x", "refs/tags/v1"},
			links:  []string{"/repo/tree/link"},
			files:  []string{"/repo/tree/src/a.go", "/repo/tree/Jenkinsfile"},
			locked: map[string]string{"npm lodash": "4.17.21", "pip requests": "2.31.0", "go golang.org/x/text": "v0.14.0", "cargo serde": "1.0.200"},
		},
	}
}

func shared() Place {
	p := place()
	p.Shared, p.Others = true, []string{"/repo/main", "/repo/sibling"}
	p.GitDir, p.CommonDir = "/repo/main/.git/worktrees/tree", "/repo/main/.git"
	return p
}

// invocation is a command line as it stands by itself at the top.
func invocation(line string) *shell.Invocation {
	words := strings.Fields(line)
	inv := &shell.Invocation{
		Program: words[0], Path: argv.Known(words[0]), Args: argv.Words(words[1:]...),
		Cwd: shell.Folder{Path: "/repo/tree", Known: true}, Stdin: shell.Stdin{Kind: shell.StdinInherited}, Plain: true,
	}
	for i := range inv.Args {
		switch a := &inv.Args[i]; {
		case strings.HasPrefix(a.Value, "$"):
			*a = argv.Word{}
		case strings.HasSuffix(a.Value, "$"):
			*a = argv.Word{Value: strings.TrimSuffix(a.Value, "$")}
		case strings.ContainsAny(a.Value, "*?"):
			*a = argv.Word{Value: a.Value, Known: true, Glob: true}
		}
	}
	return inv
}

// spell returns a finding as one line: the gravest tier and the rules.
func spell(parts []Part) string {
	worst := Safe
	var rules []string
	for _, p := range parts {
		worst = max(worst, p.Tier)
		rule := p.Rule
		if p.Blocked {
			rule = "!" + rule
		}
		rules = append(rules, rule)
	}
	return strings.TrimSpace(worst.String() + " " + strings.Join(rules, " "))
}

func TestJudge(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range slices.Concat(judgedPaths(), judgedGit(), judgedOthers()) {
		inv := invocation(c.give)
		inv.Program = inv.Program[strings.LastIndex(inv.Program, "/")+1:]
		if got := spell(r.judge(inv, place())); got != c.want {
			t.Errorf("judge(%s) = %s, want %s", c.give, got, c.want)
		}
	}
}

func TestJudgeShared(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct{ give, want string }{
		{"git gc", "SAFE !git-housekeeping"},
		{"git branch -D x", "DESTRUCTIVE !git-branch-delete"},
		{"git stash", "SAFE !git-stash"},
		{"git stash list", "SAFE"},
		{"git config user.name", "SAFE"},
		{"git config user.name x", "SAFE !git-config-shared"},
		{"git -C /repo/main status", "SAFE"},
		{"git -C /repo/main commit -m x", "SAFE !git-elsewhere"},
		{"git -C ../sibling reset --hard", "DESTRUCTIVE git-reset-hard !git-elsewhere"},
		{"git -C $x commit -m x", "SAFE !git-elsewhere"},
		{"git -C / -C repo/main commit -m x", "SAFE !git-elsewhere"},
		{"git --git-dir=/repo/main/.git tag x", "SAFE !git-elsewhere"},
		{"git $x", "DESTRUCTIVE !unresolved"},
		{"git push --mirror origin", "HARD_TO_REVERSE git-push-force !git-push-shared"},
		{"rm -rf ../sibling", "DESTRUCTIVE !other-worktree remove-outside rm-recursive"},
		{"rm -rf ..", "DESTRUCTIVE !other-worktree remove-outside rm-recursive"},
		{"rm -rf ../*", "DESTRUCTIVE !other-worktree remove-outside rm-recursive"},
		{"rm .git", "DESTRUCTIVE git-dir"},
		{"rm -rf src", "DESTRUCTIVE rm-recursive"},
		{"cp x /repo/main/.git/hooks/pre-commit", "DESTRUCTIVE write-outside !other-worktree"},
		{"mv a ../sibling/a", "DESTRUCTIVE write-outside !other-worktree"},
		{"cat ../sibling/a", "SAFE"},
		{"git commit -m x", "SAFE"},
		{"git push origin feature/x", "VISIBLE git-push"},
		{"mywrap git stash", "SAFE !suspect"},
	} {
		got := r.judge(invocation(c.give), shared())
		slices.SortFunc(got, func(a, b Part) int { return strings.Compare(spell([]Part{a})[1:], spell([]Part{b})[1:]) })
		want := strings.Fields(c.want)
		have := strings.Fields(spell(got))
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			t.Errorf("judge(%s) = %s, want %s", c.give, spell(got), c.want)
		}
	}
	inv := invocation("git commit -m x")
	inv.Assigns = []shell.Assign{{Name: "GIT_DIR", Value: argv.Known("/repo/main/.git")}}
	if got := spell(r.judge(inv, shared())); got != "SAFE !git-elsewhere" {
		t.Errorf("judge(GIT_DIR=…) = %s", got)
	}
	inv = invocation("git commit -m x")
	inv.Cwd = shell.Folder{Path: "/repo/main", Known: true, Moved: true}
	if got := spell(r.judge(inv, shared())); got != "SAFE !git-elsewhere" {
		t.Errorf("judge(cd …) = %s", got)
	}
}

func TestPublished(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		facts Facts
		want  string
	}{
		{nil, "HARD_TO_REVERSE git-amend"},
		{&facts{published: true}, "HARD_TO_REVERSE git-amend"},
		{&facts{unknown: true}, "HARD_TO_REVERSE git-amend"},
		{&facts{}, "SAFE"},
	} {
		p := place()
		p.Facts = c.facts
		if got := spell(r.judge(invocation("git commit --amend"), p)); got != c.want {
			t.Errorf("judge with %+v = %s, want %s", c.facts, got, c.want)
		}
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	r := load(t)
	push := func(remote string, force bool, branches ...string) Operation {
		return &Push{Remote: remote, Branches: branches, Force: force}
	}
	run := func(line string) Operation { return &Run{Argv: strings.Fields(line)} }
	for _, c := range []struct {
		give string
		want Operation
	}{
		{"git push", push("origin", false, "feature/x")},
		{"git push origin", push("origin", false, "feature/x")},
		{"git push -u origin HEAD", push("origin", false, "feature/x")},
		{"git push origin feature/x", push("origin", false, "feature/x")},
		{"git push origin feature/y", push("origin", false, "feature/y")},
		{"git push origin HEAD:main", push("origin", false, "main")},
		{"git push origin HEAD:refs/heads/main x:feature/z", push("origin", false, "main", "feature/z")},
		{"git push --force-with-lease origin feature/x", push("origin", true, "feature/x")},
		{"git push origin +feature/x", push("origin", true, "feature/x")},
		{"git push upstream feature/x", push("upstream", false, "feature/x")},
		{"git push odd feature/x", run("git push odd feature/x")},
		{"git push https://example.com/x feature/x", run("git push https://example.com/x feature/x")},
		{"git push origin v1", run("git push origin v1")},
		{"git push origin HEAD:refs/tags/v1", run("git push origin HEAD:refs/tags/v1")},
		{"git push --tags origin feature/x", run("git push --tags origin feature/x")},
		{"git push --all", run("git push --all")},
		{"git push origin :", run("git push origin :")},
		{"git push origin HEAD:a..b", run("git push origin HEAD:a..b")},
		{"git push origin HEAD:refs/heads/refs/x", run("git push origin HEAD:refs/heads/refs/x")},
		{"git -C . push origin feature/x", run("git -C . push origin feature/x")},
		{"git -c a.b=c push origin feature/x", run("git -c a.b=c push origin feature/x")},
		{"git push --receive-pack=x origin feature/x", run("git push --receive-pack=x origin feature/x")},
		{"git push origin feature/$", nil},
		{"git push origin feature/*", nil},
		{"gh pr create --fill", &Forge{Verb: "create", What: "pull-request"}},
		{"gh issue close 1", &Forge{Verb: "close", What: "issue"}},
		{"gh -R a/b pr create", run("gh -R a/b pr create")},
		{"gh pr close https://example.com/a/b/pull/1", run("gh pr close https://example.com/a/b/pull/1")},
		{"gh pr merge 1 --delete-branch", run("gh pr merge 1 --delete-branch")},
		{"glab mr note 1", &Forge{Verb: "comment", What: "pull-request"}},
		{"npm run deploy:staging", run("npm run deploy:staging")},
		{"tee .github/workflows/ci.yml", &Modify{Paths: []string{".github/workflows/ci.yml"}}},
		{"git commit --amend", &Amend{}},
		{"npm install lodash@3", &Downgrade{}},
		{"git branch -f main x", run("git branch -f main x")},
		{"rm -rf src", nil},
		{"mywrap git push", run("mywrap git push")},
	} {
		parts := r.judge(invocation(c.give), place())
		if len(parts) != 1 {
			t.Errorf("judge(%s) = %s, want one part", c.give, spell(parts))
			continue
		}
		if !reflect.DeepEqual(parts[0].Operation, c.want) {
			t.Errorf("judge(%s): operation %#v, want %#v", c.give, parts[0].Operation, c.want)
		}
	}
}

// Each unusual circumstance of a push takes its operation away.
func TestOperationOdd(t *testing.T) {
	t.Parallel()
	r := load(t)
	for name, change := range map[string]func(*shell.Invocation){
		"via":      func(i *shell.Invocation) { i.Via = []string{"sudo"} },
		"assign":   func(i *shell.Invocation) { i.Assigns = []shell.Assign{{Name: "GIT_SSH_COMMAND"}} },
		"remote":   func(i *shell.Invocation) { i.Remote = true },
		"moved":    func(i *shell.Invocation) { i.Cwd.Moved = true },
		"cwd":      func(i *shell.Invocation) { i.Cwd.Path = "/elsewhere" },
		"unknown":  func(i *shell.Invocation) { i.Cwd = shell.Folder{} },
		"operand":  func(i *shell.Invocation) { i.Args[2].Known = false },
		"argument": func(i *shell.Invocation) { i.Args = append(i.Args, argv.Word{Glob: true, Value: "*"}) },
	} {
		inv := invocation("git push origin feature/x")
		change(inv)
		for _, p := range r.judge(inv, place()) {
			if p.Operation != nil || p.Plain {
				t.Errorf("%s: operation %#v, plain %v", name, p.Operation, p.Plain)
			}
		}
	}
}

func TestUsualPush(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		branch, upstream string
		want             []string
	}{
		{"feature/x", "origin/feature/x", []string{"feature/x"}},
		{"feature/x", "origin/main", []string{"feature/x", "main"}},
		{"feature/x", "upstream/main", []string{"feature/x"}},
		{"feature/x", "", []string{"feature/x"}},
		{"feature/x", "gone/main", nil},
		{"", "", nil},
	} {
		p := place()
		p.Branch, p.Upstream, p.PushDefault = c.branch, c.upstream, "origin"
		var got []string
		if push, ok := r.judge(invocation("git push"), p)[0].Operation.(*Push); ok {
			got = push.Branches
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("git push on %q with upstream %q goes to %q, want %q", c.branch, c.upstream, got, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		give string
		want bool
	}{
		{"rm -rf src", true},
		{"rm -rf /tmp/x src", true},
		{"rm -rf .", false}, // with the git dir
		{"rm -rf ..", false},
		{"rm -rf $x", false},
		{"rm -rf .git", false},
		{"rm -rf *", true},
		{"kill 1", true},
		{"git reset --hard", true},
		{"git -C /x reset --hard", false},
		{"git branch -D x", false},
		{"find src -delete", true},
		{"find / -delete", false},
		{"shred src/a.go", true},
		{"shred /dev/sda", false},
		{"docker kill x", false},
	} {
		within := true
		for _, p := range r.judge(invocation(c.give), place()) {
			within = within && p.Within
		}
		if within != c.want {
			t.Errorf("judge(%s): within %v, want %v", c.give, within, c.want)
		}
	}
}
