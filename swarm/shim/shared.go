package shim

import (
	"fmt"
	"slices"
	"strings"
)

// rule describes a subcommand that can change state that workspaces share.
type rule struct {
	grammar
	// changes reports whether it does with these words.
	changes func(words, asker) bool
	shares  string // the shared state of the workspace
	instead string // the command to use instead
}

// asker answers questions about the repository.
type asker interface {
	// branch reports whether checking a name out would put HEAD on a branch.
	branch(name string) bool
	// ownConfig reports whether each worktree has a configuration of its own.
	ownConfig() bool
}

// refusal is why a call of git is refused where refs, configuration and
// objects are shared, or empty.
func refusal(l line, a asker) string {
	r, ok := rules()[l.sub]
	if !ok || helps(l.args) || !r.changes(r.scan(l.args), a) {
		return ""
	}
	return fmt.Sprintf("this workspace shares its %s with others; %s", r.shares, r.instead)
}

// helps reports whether arguments ask for a manual only.
func helps(args []string) bool {
	return len(args) > 0 && (args[0] == "--help" || args[0] == "-h" && len(args) == 1)
}

// The shared parts, and the alternative to most of them.
const (
	refs    = "refs"
	config  = "configuration"
	objects = "objects"

	commit  = "a commit here is on no branch and is kept"
	gather  = "nothing here needs to be packed or pruned"
	fetched = "use `git fetch --refmap= REMOTE BRANCH`, which stores it as FETCH_HEAD alone"
)

// rules are by subcommand. Other subcommands work, or the sandbox refuses them
// with git's own words.
func rules() map[string]rule {
	all := map[string]rule{
		"stash":  {changes: stashes, shares: refs, instead: "commit instead (`git reset --soft HEAD~` takes it back): " + commit},
		"branch": {grammar: listing("u", "t"), changes: branches, shares: refs, instead: "just commit: " + commit},
		"tag":    {grammar: listing("umF", "n"), changes: tags, shares: refs, instead: "name the commit by its hash: " + commit},
		"switch": {
			grammar: grammar{short: "cC", stuck: "t", long: []string{
				"create=", "force-create=", "orphan=", "detach", "conflict=",
				"discard-changes", "guess", "quiet", "progress", "merge", "force", "track",
			}},
			changes: switches, shares: refs, instead: "use `git switch --detach COMMIT`: " + commit,
		},
		"checkout": {
			grammar: grammar{short: "bBU", stuck: "t", long: []string{
				"orphan=", "track", "detach", "patch", "pathspec-from-file=", "conflict=", "unified=",
				"inter-hunk-context=", "ours", "theirs", "overlay", "overwrite-ignore", "quiet", "guess", "progress",
			}},
			changes: checksOut, shares: refs, instead: "use `git checkout --detach COMMIT`: " + commit,
		},
	}
	for _, more := range []map[string]rule{historyRules(), configRules(), remoteRules(), objectRules()} {
		for name, r := range more {
			all[name] = r
		}
	}
	return all
}

func historyRules() map[string]rule {
	return map[string]rule{
		"rebase": {
			changes: always, shares: refs,
			instead: "use `git merge`, or `git reset --hard COMMIT` and `git cherry-pick -n` what you want again",
		},
		"cherry-pick": {
			grammar: grammar{short: "mX", stuck: "S", long: []string{"no-commit", "quit", "continue", "abort", "skip", "strategy=", "mainline="}},
			// Git leaves CHERRY_PICK_HEAD behind where it cannot lock packed-refs.
			changes: func(w words, _ asker) bool {
				return !w.has("n", "no-commit", "continue", "abort", "skip", "quit")
			},
			shares: refs, instead: "use `git cherry-pick -n COMMIT` and `git commit -C COMMIT`",
		},
		"bisect": {
			changes: among("start", "bad", "new", "good", "old", "skip", "reset", "replay", "run", "next"),
			shares:  refs, instead: "use `git checkout --detach` on the commits to try",
		},
		"update-ref": {
			grammar: grammar{short: "m"}, changes: updatesRef,
			shares: refs, instead: "set HEAD, or a ref below refs/worktree/, which are its own",
		},
		"symbolic-ref": {
			grammar: grammar{short: "m", long: []string{"delete", "short", "quiet", "recurse"}}, changes: setsSymbolic,
			shares: refs, instead: "use `git switch --detach COMMIT`",
		},
		"notes": {
			grammar: grammar{long: []string{"ref="}},
			changes: among("add", "append", "copy", "edit", "merge", "prune", "remove"),
			shares:  refs, instead: "say it in the commit's message",
		},
		"replace": {
			grammar: grammar{long: []string{"list", "format=", "convert-graft-file"}},
			changes: func(w words, _ asker) bool {
				return !w.has("l", "list") && (len(w.operands) > 0 || w.has("convert-graft-file"))
			},
			shares: refs, instead: "make a new commit",
		},
		"filter-branch": {changes: always, shares: refs, instead: "make new commits on a detached HEAD"},
		"fast-import":   {changes: always, shares: refs, instead: "import into a repository of your own and fetch from its path"},
	}
}

func configRules() map[string]rule {
	return map[string]rule{
		"config": {
			grammar: grammar{short: "f", long: []string{
				"file=", "blob=", "type=", "default=", "value=", "comment=", "url=", "global", "system", "local", "worktree",
				"get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool", "list", "add", "append", "all",
				"unset", "unset-all", "replace-all", "rename-section", "remove-section", "edit", "null", "name-only",
				"bool", "int", "path", "show-origin", "show-scope", "show-names", "includes", "fixed-value", "regexp",
			}},
			changes: configures, shares: config, instead: "use `git -c NAME=VALUE COMMAND`",
		},
		"submodule": {
			changes: changesSubmodules, shares: config,
			instead: "use `git -c submodule.active=. submodule update`, which needs no init",
		},
		"sparse-checkout": {
			changes: func(w words, a asker) bool {
				return among("init", "set", "add", "disable")(w, a) && !a.ownConfig()
			},
			shares: config, instead: "leave all files where they are",
		},
	}
}

func remoteRules() map[string]rule {
	g := grammar{short: "oj", long: []string{
		"refmap=", "depth=", "deepen=", "shallow-since=", "shallow-exclude=", "negotiation-tip=",
		"upload-pack=", "server-option=", "filter=", "jobs=", "strategy=", "strategy-option=", "unshallow",
		"update-shallow", "tags", "no-tags", "all", "multiple", "prune", "prune-tags", "set-upstream", "dry-run", "rebase",
	}}
	pull := g
	pull.short, pull.stuck = "ojXs", "rS"
	return map[string]rule{
		"fetch": {grammar: g, changes: fetches, shares: refs, instead: fetched},
		"pull":  {grammar: pull, changes: fetches, shares: refs, instead: fetched + ", and `git merge FETCH_HEAD`"},
		"push": {
			grammar: grammar{short: "o", long: []string{"set-upstream", "push-option=", "receive-pack=", "exec=", "repo="}},
			changes: func(w words, _ asker) bool { return w.has("u", "set-upstream") },
			shares:  config, instead: "push without -u: `git push REMOTE HEAD:refs/heads/BRANCH`",
		},
		"remote": {
			changes: among("add", "rename", "remove", "rm", "set-head", "set-branches", "set-url", "prune", "update"),
			shares:  config, instead: "name the URL where a remote is wanted",
		},
		"worktree": {
			changes: among("add", "lock", "move", "prune", "remove", "repair", "unlock"),
			shares:  "list of worktrees", instead: "use `git clone --shared . FOLDER` in TMPDIR",
		},
	}
}

func objectRules() map[string]rule {
	return map[string]rule{
		"gc":           {changes: always, shares: objects, instead: gather},
		"maintenance":  {changes: always, shares: objects, instead: gather},
		"repack":       {changes: always, shares: objects, instead: gather},
		"prune-packed": {changes: always, shares: objects, instead: gather},
		"pack-refs":    {changes: always, shares: refs, instead: gather},
		"prune": {
			changes: func(w words, _ asker) bool { return !w.has("n", "dry-run") },
			shares:  objects, instead: gather,
		},
		"multi-pack-index": {
			grammar: grammar{long: []string{"object-dir="}}, changes: among("write", "expire", "repack"),
			shares: objects, instead: gather,
		},
		"reflog": {
			changes: func(w words, a asker) bool {
				return among("expire", "delete", "drop")(w, a) && !w.has("n", "dry-run")
			},
			shares: "reflogs", instead: gather,
		},
	}
}

// listing is the grammar of a subcommand that lists refs unless an option makes
// it create a ref.
func listing(short, stuck string) grammar {
	return grammar{short: short, stuck: stuck, long: []string{
		"list", "all", "remotes", "verbose", "quiet", "verify", "contains=", "no-contains=", "merged=", "no-merged=",
		"points-at=", "sort=", "format=", "show-current", "ignore-case", "omit-empty", "color", "column", "abbrev",
		"delete", "move", "copy", "force", "track", "no-track", "edit-description", "set-upstream-to=",
		"unset-upstream", "create-reflog", "annotate", "sign", "local-user=", "message=", "file=", "edit",
		"cleanup=", "trailer=",
	}}
}

// always is the rule of a subcommand that always changes something.
func always(words, asker) bool { return true }

// among is a rule for commands whose first operand is a verb.
func among(verbs ...string) func(words, asker) bool {
	return func(w words, _ asker) bool { return slices.Contains(verbs, w.operand(0)) }
}

// private reports whether a ref belongs to a single worktree.
func private(ref string) bool {
	return !strings.Contains(ref, "/") || strings.HasPrefix(ref, "refs/worktree/") ||
		strings.HasPrefix(ref, "refs/bisect/") || strings.HasPrefix(ref, "refs/rewritten/")
}
