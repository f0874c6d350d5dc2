package privatehome

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/swarm/environ"
)

// plainGit keeps settings of git without credentials: identities, aliases, includes,
// and all settings of the sections below whose values hold none.
func plainGit(text []byte) []byte { return keepGit(readGit(text)) }

func keepGit(all []gitEntry) []byte {
	return writeGit(slices.DeleteFunc(all, func(e gitEntry) bool { return !plainGitEntry(e) }))
}

// gitSections are sections without settings that hold a credential
// (git-config(1), git-lfs-config(5), and usual tools).
func gitSections() []string {
	return words(`add advice alias am apply author blame branch browser checkout clean clone color column commit
		committer core delta diff diff-so-fancy difftool extensions feature fetch filter format fsck gc gpg grep guitool help
		i18n include includeif index init interactive log lfs lsrefs maintenance man merge mergetool notes pack pager pretty
		protocol pull push rebase receive reftable remote repack rerere revert safe sequence showbranch splitindex stash
		status submodule tag tar trace2 transfer uploadarchive uploadpack url user versionsort web worktree`)
}

// gitHTTP are settings of http and of credential that hold no credential.
func gitHTTP() []string {
	return words(`sslverify sslversion sslcainfo sslcapath sslbackend sslcertpasswordprotected schannelcheckrevoke schannelusesslcainfo
		version lowspeedlimit lowspeedtime postbuffer maxrequests minsessions followredirects noepsv proxy proxyauthmethod
		useragent curloptresolve emptyauth delegation helper usehttppath username interactive`)
}

func plainGitEntry(e gitEntry) bool {
	all := e.sub + "\n" + e.value
	switch {
	case strings.ContainsAny(all, "\x00\r") || strings.Contains(e.sub, "\n"):
		return false // It cannot be written.
	case environ.Credential("value", e.sub), environ.Credential("value", e.value), knownTokens().MatchString(all):
		return false
	case e.section == "http":
		return slices.Contains(gitHTTP(), e.key) && e.key != "helper" && (e.key != "proxy" || plainValue(e.value))
	case e.section == "credential":
		return slices.Contains(gitHTTP(), e.key) && (e.key != "helper" || plainHelper(e.value))
	case !slices.Contains(gitSections(), e.section), e.key == "askpass", !strings.HasPrefix(e.key, "author") && namesSecret(e.key):
		return false
	case e.section == "alias":
		return plainAlias(e.value)
	case gitCommand(e):
		return plainShell(strings.TrimPrefix(e.value, "!"))
	default:
		return true
	}
}

// knownTokens are prefixes by which services mark their tokens.
var knownTokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(gh[opusr]_\w|github_pat_|gl[a-z]{1,5}-\w{10}|xox[a-z]-|AKIA[A-Z0-9]{12}|npm_\w{20}|pypi-\w{10}|hf_\w{20}|dckr_pat_|ATBB\w{10}|sk-\w{10})`)
})

// gitCommand reports whether the value of a variable is a command.
func gitCommand(e gitEntry) bool {
	if e.section == "pager" || e.section == "filter" && e.key != "required" {
		return true
	}
	switch e.key {
	case "cmd", "command", "driver", "textconv", "editor", "pager", "external", "difffilter", "program", "sshcommand",
		"gitproxy", "fsmonitor", "packobjectshook", "alternaterefscommand", "defaultkeycommand", "uploadpack", "receivepack":
		return true
	case "update": // of a submodule
		return strings.HasPrefix(e.value, "!")
	}
	return false
}

// plainHelper reports whether a helper for credentials is a name, or a program that
// has the credentials elsewhere. Those of a file or of a daemon are hidden.
func plainHelper(value string) bool {
	return helperForm().MatchString(value)
}

var helperForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(|[a-zA-Z][\w-]*|!?(/[\w./-]*/)?(gh|glab) auth git-credential|/[\w./-]*/git-credential-[\w-]+)$`)
})

// plainAlias reports whether an alias is a command of git, or a text for the shell
// that starts usual programs only.
func plainAlias(value string) bool {
	if shell, ok := strings.CutPrefix(value, "!"); ok {
		return plainShell(shell)
	}
	return plainShell("git " + value)
}

// shellPrograms are programs that take no credential as an argument, where
// [environ.Credential] finds none.
func shellPrograms() []string {
	return words(`git git-lfs gitk tig gh hub ssh cd : [ test true false echo printf cat less more most bat delta diff diff-so-fancy difft
		difftastic colordiff icdiff grep egrep fgrep rg ag sed awk gawk perl cut tr sort uniq head tail wc xargs tee find fzf nl rev
		column date basename dirname pwd ls mkdir rm mv cp touch eval exit return read shift set sh bash zsh
		vi vim nvim gvim mvim nano pico micro hx helix kak emacs emacsclient code codium subl mate zed atom gedit kate meld
		kdiff3 bc3 bcompare vimdiff nvimdiff opendiff smerge p4merge araxis nbdiff nbstripout nbdime jupytext git-nbdiffdriver
		git-nbmergedriver gpg gpg2 gpgsm ssh-keygen ssh-add op-ssh-sign exiftool pdftotext antiword docx2txt pandoc odt2txt
		hexdump xxd strings mergiraf weave`)
}

// plainShell reports whether a text for the shell can hold no credential. A program
// that is not known, such as a function, has options and variables as its arguments
// only. No text is given to a variable or to the input of a program, but to variables
// in front of a known program.
func plainShell(text string) bool {
	if strings.Contains(strings.ToLower(text), "extraheader") {
		return false // Any header may be a credential.
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			known := len(n.Args) > 0 && slices.Contains(shellPrograms(), path.Base(n.Args[0].Lit()))
			plain = plain && (known || len(n.Args) == 0 || !slices.ContainsFunc(n.Args[1:], func(w *syntax.Word) bool { return !plainArgument(w) }))
			plain = plain && (known || !slices.ContainsFunc(n.Assigns, givesText))
		case *syntax.DeclClause:
			plain = plain && !slices.ContainsFunc(n.Args, givesText)
		case *syntax.Redirect:
			plain = plain && n.Hdoc == nil && n.Op != syntax.WordHdoc
		}
		return plain
	})
	return plain
}

// givesText reports whether a variable gets a text that stands there, other than a number.
func givesText(a *syntax.Assign) bool {
	if a.Array != nil || a.Value == nil {
		return a.Array != nil
	}
	given := false
	syntax.Walk(a.Value, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return false // It is looked at as a command.
		case *syntax.Lit:
			given = given || strings.Trim(n.Value, "0123456789") != ""
		case *syntax.SglQuoted:
			given = given || n.Value != ""
		case *syntax.ParamExp:
			given = given || !plainVariable(n)
			return false
		}
		return !given
	})
	return given
}

// plainVariable reports whether an expansion of a variable has no text of its own.
func plainVariable(p syntax.WordPart) bool {
	v, ok := p.(*syntax.ParamExp)
	return ok && v.Exp == nil && v.Repl == nil
}

// plainArgument reports whether an argument is an option without a value, a variable,
// or a letter that git replaces.
func plainArgument(w *syntax.Word) bool {
	if text := w.Lit(); text != "" {
		return optionForm().MatchString(text)
	}
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		if quoted, ok := p.(*syntax.DblQuoted); ok {
			return slices.ContainsFunc(quoted.Parts, func(p syntax.WordPart) bool { return !plainVariable(p) })
		}
		return !plainVariable(p)
	})
}

var optionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-[A-Za-z]|--[a-z][a-z-]*|--|-|%[A-Za-z])$`)
})
