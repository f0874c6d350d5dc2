package shim

import (
	"strings"
	"testing"
)

// answers is a repository with a branch.
type answers struct{ config bool }

func (answers) branch(name string) bool { return name == "main" || name == "-" }
func (a answers) ownConfig() bool       { return a.config }

// refused and allowed are calls of git in a workspace that shares its refs.
func refused() []string {
	return []string{
		"stash", "stash push -m x", "stash -u", "stash -m list", "stash -- a", "stash pop", "stash drop", "stash clear",
		"stash branch x", "stash store x", "stash save", "stash -p",
		"branch x", "branch -v x", "branch -d x", "branch -D x", "branch --delete x", "branch --del x", "branch -m y",
		"branch -M x y", "branch -c x", "branch -f x HEAD~", "branch -t x origin/x", "branch --track x y", "branch -u origin/x",
		"branch -uorigin/x", "branch --set-upstream-to=x", "branch --unset-upstream", "branch --edit-description",
		"branch --sort=x y", "branch --sort x y", "branch -- x", "branch -q x", "branch -rd origin/x", "branch -dr origin/x",
		"switch x", "switch -c x", "switch -Cx", "switch --create x", "switch --orphan x", "switch -", "switch -m x", "switch -q main",
		"checkout -b x", "checkout -B x", "checkout -bx", "checkout -qb x", "checkout --orphan x", "checkout -t origin/x",
		"checkout --track origin/x", "checkout main", "checkout -f main", "checkout -q main", "checkout main --", "checkout -",
		"tag x", "tag -a x -m y", "tag -am y x", "tag -d x", "tag --delete x", "tag -f x", "tag -s x", "tag -F f x", "tag x HEAD~", "tag -- x",
		"rebase", "rebase main", "rebase -i HEAD~2", "rebase --continue", "rebase --onto a b",
		"cherry-pick a", "cherry-pick -x a", "cherry-pick -m 1 a", "cherry-pick a..b", "cherry-pick -Xn a",
		"bisect start", "bisect bad", "bisect run x", "bisect reset",
		"update-ref refs/heads/x HEAD", "update-ref -d refs/heads/x", "update-ref --stdin", "update-ref -m why refs/tags/x y", "update-ref -d HEAD",
		"symbolic-ref HEAD refs/heads/x", "symbolic-ref -d HEAD", "symbolic-ref -m x HEAD refs/heads/x",
		"notes add -m x", "notes --ref=x append", "notes --ref x remove", "notes prune",
		"replace a b", "replace -d a", "filter-branch -f", "fast-import",
		"config a.b c", "config --add a.b c", "config --unset a.b", "config --unset-all a.b", "config --local a.b c", "config --replace-all a.b c",
		"config set a.b c", "config unset a.b", "config -e", "config edit", "config --rename-section a b", "config --remove-section a",
		"config --bool a.b true", "config --type bool a.b true", "config a.b c --type=int",
		"submodule add x", "submodule init", "submodule update --init", "submodule update --init --recursive", "submodule sync",
		"submodule deinit --all", "submodule --quiet update --init", "submodule absorbgitdirs",
		"sparse-checkout set a", "sparse-checkout disable", "sparse-checkout init --cone",
		"fetch", "fetch origin", "fetch origin main", "fetch --all", "fetch --tags ../x", "fetch -t ../x", "fetch -p", "fetch --prune",
		"fetch ../x a:refs/heads/b", "fetch ../x +a:b/c", "fetch --refmap= origin", "fetch --refmap=x origin a", "fetch --refmap x origin a",
		"fetch --depth 1 ../x", "fetch --depth=1 ../x", "fetch --unshallow", "fetch origin tag v1", "fetch ../x tag v1", "fetch --multiple a b",
		"pull", "pull origin main", "pull --rebase ../x", "pull -r ../x", "pull --rebase=true ../x", "pull -s ours origin x", "pull --ff-only",
		"push -u origin HEAD", "push --set-upstream origin main", "push --set-up origin x", "push -fu origin x",
		"remote add a b", "remote rm a", "remote set-url a b", "remote -v update", "remote prune a",
		"worktree add ../x", "worktree remove x", "worktree prune", "worktree move a b", "worktree lock a", "worktree unlock a", "worktree repair",
		"gc", "gc --auto", "maintenance run", "repack -ad", "prune", "prune --expire now", "prune-packed", "pack-refs --all",
		"multi-pack-index write", "multi-pack-index --object-dir x repack", "reflog expire --all", "reflog delete HEAD@{1}",
	}
}

func allowed() []string {
	return []string{
		"status", "commit -m stash", "add .", "mv a b", "log --oneline", "merge main", "merge --abort", "revert HEAD", "am x", "reset --hard HEAD~",
		"restore .", "diff stash", "rev-parse HEAD", "clone x y", "init", "help stash", "clean -fdx", "show-ref", "x",
		"stash list", "stash show -p", "stash apply", "stash create", "stash --help", "stash -h",
		"branch", "branch -a", "branch -r", "branch -vv", "branch --list", "branch --list x*", "branch -l x", "branch --show-current",
		"branch --contains x", "branch --contains", "branch --merged main", "branch --no-merged", "branch --points-at HEAD", "branch --sort=-committerdate",
		"branch --sort -x", "branch --format %(refname)", "branch --help", "branch -h", "branch -a --contains x y",
		"switch -d x", "switch --detach x", "switch --det main", "switch --detach", "switch", "switch --help",
		"checkout", "checkout .", "checkout -- main", "checkout HEAD a", "checkout main a", "checkout main -- a", "checkout a1b2c3", "checkout --detach main",
		"checkout -d main", "checkout -p", "checkout --ours a", "checkout --theirs main", "checkout v1.0", "checkout -f", "checkout --conflict merge x",
		"tag", "tag -l", "tag -l x*", "tag --list x", "tag -n", "tag -n3 x", "tag -v x", "tag --contains x", "tag --points-at HEAD", "tag --sort=x", "tag --merged main x",
		"rebase -h", "rebase --help", "cherry-pick -n a", "cherry-pick --no-commit a", "cherry-pick --no-c a", "cherry-pick --abort", "cherry-pick --continue",
		"bisect log", "bisect", "bisect view",
		"update-ref HEAD a", "update-ref ORIG_HEAD a", "update-ref refs/worktree/x a", "update-ref -m refs/heads/x HEAD a", "update-ref",
		"symbolic-ref HEAD", "symbolic-ref --short HEAD", "symbolic-ref -q HEAD",
		"notes", "notes list", "notes --ref add show", "replace", "replace -l x", "replace --list",
		"config a.b", "config --get a.b", "config --get-all a.b x", "config --get-regexp a b", "config -l", "config --list --show-origin", "config get a.b", "config list",
		"config --global a.b c", "config a.b c --global", "config --system a.b c", "config -f x a.b c", "config --file=x a.b c", "config --worktree a.b c",
		"config --type=bool a.b", "config --type bool a.b", "config --default x --get a.b", "config --glob a.b c",
		"submodule", "submodule status", "submodule update", "submodule foreach init", "submodule summary", "submodule update --recursive",
		"sparse-checkout list", "sparse-checkout reapply",
		"fetch --dry-run", "fetch ../x", "fetch ../x main", "fetch https://x/y a", "fetch host:x a", "fetch --refmap= origin main", "fetch --refmap= --no-tags origin a b",
		"fetch ../x a:", "fetch ../x a:refs/worktree/a", "fetch -q ../x", "fetch -j 4 ../x",
		"pull ../x main", "pull --no-rebase ../x main", "pull --rebase=false --refmap= origin x", "pull --dry-run", "pull -X ours ../x",
		"push", "push origin HEAD:refs/heads/x", "push -o u origin x", "push -f origin x", "push --delete origin x",
		"remote", "remote -v", "remote show origin", "remote get-url origin",
		"worktree", "worktree list", "prune -n", "prune --dry-run", "multi-pack-index verify", "multi-pack-index --object-dir write verify",
		"reflog", "reflog show", "reflog exists HEAD", "reflog expire -n --all", "gc -h", "gc --help",
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, give := range refused() {
		l := parse(strings.Fields(give))
		named[l.sub] = true
		got := refusal(l, answers{})
		if !strings.HasPrefix(got, "this workspace shares its ") || !strings.Contains(got, "; ") || strings.Contains(got, "\n") {
			t.Errorf("refusal(git %s) = %q, want one line with what is shared, and the alternative", give, got)
		}
	}
	for _, give := range allowed() {
		if got := refusal(parse(strings.Fields(give)), answers{}); got != "" {
			t.Errorf("refusal(git %s) = %q, want none", give, got)
		}
	}
	if got := refusal(parse([]string{"sparse-checkout", "set", "a"}), answers{config: true}); got != "" {
		t.Errorf("refusal(git sparse-checkout set) = %q where each worktree has its configuration", got)
	}
	for name := range rules() {
		if !named[name] {
			t.Errorf("no call of %s is refused by this test", name)
		}
	}
}

// TestAlternatives: the command that a refusal suggests is not refused itself.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	for name, r := range rules() {
		for i, part := range strings.Split(r.instead, "`") {
			args, ok := strings.CutPrefix(part, "git ")
			if i%2 == 0 || !ok {
				continue
			}
			if got := refusal(parse(strings.Fields(args)), answers{}); got != "" {
				t.Errorf("git %s: the alternative git %s is refused: %s", name, args, got)
			}
		}
	}
}

// TestScriptNames: the script passes on exactly the commands with a rule.
func TestScriptNames(t *testing.T) {
	t.Parallel()
	script := string(Script)
	want := []string{"overlay:mv"}
	for name := range rules() {
		want = append(want, "worktree:"+name)
	}
	for _, name := range want {
		if !strings.Contains(script, name+" |") && !strings.Contains(script, name+")") {
			t.Errorf("the script does not hand over %s", name)
		}
	}
	if got := strings.Count(script, "worktree:") + strings.Count(script, "overlay:"); got != len(want) {
		t.Errorf("the script hands over %d words, want %d", got, len(want))
	}
	if n := strings.Count(script, "\n"); n > 36 {
		t.Errorf("the script has %d lines", n)
	}
}
