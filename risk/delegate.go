package risk

import (
	"path"
	"slices"
	"strings"
	"sync"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// delegate returns the invocation that a program hands its words to: git-annex
// for "git annex", git for "yadm push", cargo for "cargo +nightly". It is nil for
// all other programs.
func delegate(inv *shell.Invocation) *shell.Invocation {
	program, args := otherName(inv.Program), inv.Args
	if program != "" {
		return handed(inv, program, args)
	}
	if name, ok := strings.CutPrefix(inv.Program, "git-"); ok && isOwnGit(name) && !strings.Contains(name, "--") {
		return handed(inv, "git", slices.Concat([]argv.Word{argv.Known(name)}, args))
	}
	program = "git"
	switch inv.Program {
	case "git":
		at := gitCommandAt(args)
		if at < 0 || isOwnGit(args[at].Value) {
			return nil
		}
		program, args = "git-"+args[at].Value, args[at+1:]
	case "yadm":
		if at := gitCommandAt(args); at < 0 || slices.Contains(ownYadm(), args[at].Value) {
			return nil
		}
	case "vcsh":
		if len(args) < 2 || !args[0].Known || strings.HasPrefix(args[0].Value, "-") || slices.Contains(ownVcsh(), args[0].Value) {
			return nil
		}
		args = args[1:]
	case "chezmoi":
		if len(args) < 2 || args[0].Value != "git" {
			return nil
		}
		if args = args[1:]; args[0].Value == "--" {
			args = args[1:]
		}
	case "cargo":
		if len(args) == 0 || !strings.HasPrefix(args[0].Value, "+") {
			return nil
		}
		program, args = "cargo", args[1:]
	case "yarn": // of a workspace, behind its name
		if len(args) < 3 || args[0].Value != "workspace" || !args[2].Known || strings.HasPrefix(args[1].Value, "-") {
			return nil
		}
		program, args = "yarn", args[2:]
	case "php":
		at := slices.IndexFunc(args, func(w argv.Word) bool { return !strings.HasPrefix(w.Value, "-") })
		if at < 0 || !slices.Contains([]string{"composer", "composer.phar"}, path.Base(args[at].Value)) {
			return nil
		}
		program, args = "composer", args[at+1:]
	default:
		return nil
	}
	return handed(inv, program, args)
}

// otherName returns the usual name of a program that has a version or an ending
// in its name, and "" for all other programs.
func otherName(program string) string {
	if program == "composer.phar" {
		return "composer"
	}
	if version, ok := strings.CutPrefix(program, "pip"); ok && version != "" && program != "pip3" && strings.Trim(version, "0123456789.") == "" {
		return "pip"
	}
	return ""
}

// handed returns an invocation as that of another program with other words.
func handed(inv *shell.Invocation, program string, args []argv.Word) *shell.Invocation {
	next := *inv
	next.Program, next.Path, next.Args = program, argv.Known(program), args
	return &next
}

// gitCommandAt returns the index of git's command among the words of a command
// line, and -1 where there is none or where it is not known.
func gitCommandAt(args []argv.Word) int {
	valued := []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"}
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case !w.Known || w.Value == "":
			return -1
		case slices.Contains(valued, w.Value):
			i++
		case w.Value[0] != '-':
			return i
		}
	}
	return -1
}

// isOwnGit reports whether a command belongs to git itself. All others are
// programs whose names begin with "git-", or aliases.
func isOwnGit(name string) bool {
	return strings.Contains(name, "--") || ownGit()[name]
}

// ownGit returns the commands of git, and git-lfs, which the rules for git cover.
var ownGit = sync.OnceValue(func() map[string]bool { return setOf(strings.Fields(gitCommands)) })

const gitCommands = `add am annotate apply archimport archive backfill bisect blame branch bugreport bundle cat-file
	check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone
	column commit commit-graph commit-tree config count-objects credential credential-cache credential-store
	cvsexportcommit cvsimport cvsserver daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool
	fast-export fast-import fetch fetch-pack filter-branch filter-repo fmt-merge-msg for-each-ref for-each-repo
	format-patch fsck fsck-objects gc get-tar-commit-id grep gui hash-object help history hook http-backend http-fetch
	http-push imap-send index-pack init init-db instaweb interpret-trailers last-modified lfs log ls-files ls-remote
	ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours
	merge-recursive merge-recursive-ours merge-recursive-theirs merge-resolve merge-subtree merge-tree mergetool mktag
	mktree multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs patch-id pickaxe prune prune-packed
	pull push quiltimport range-diff read-tree rebase receive-pack reflog refs remote remote-ext remote-fd remote-ftp
	remote-ftps remote-http remote-https repack replace replay repo request-pull rerere reset restore rev-list rev-parse
	revert rm scalar send-email send-pack sh-i18n sh-setup shell shortlog show show-branch show-index show-ref
	sparse-checkout stage stash status stripspace submodule subtree survey svn switch symbolic-ref tag unpack-file
	unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack
	verify-tag version whatchanged worktree write-tree`

// ownYadm are the commands of yadm that are none of git.
func ownYadm() []string {
	return []string{"alt", "bootstrap", "clone", "decrypt", "encrypt", "enter", "git-crypt", "gitconfig", "help", "init", "introspect", "list", "perms", "transcrypt", "upgrade", "version"}
}

// ownVcsh are the commands of vcsh that name no repository.
func ownVcsh() []string {
	return []string{"clone", "commit", "delete", "enter", "foreach", "help", "init", "list", "list-tracked", "list-untracked", "list-tracked-by", "pull", "push", "rename", "run", "status", "upgrade", "version", "which", "write-gitignore"}
}
