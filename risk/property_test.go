package risk_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"agentswarm/internal/testing/campaign"
	"agentswarm/risk"

	"mvdan.cc/sh/v3/syntax"
)

// quoted returns text as a quoted word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// wrapper is another way to run a command.
type wrapper struct {
	name string
	wrap func(command string) string
	// inside says that the command becomes part of the text, and so must be
	// whole. An unmatched quote or bracket would change the text around it.
	inside bool
}

func wrappers() []wrapper {
	before := func(words string) wrapper {
		return wrapper{name: words, wrap: func(c string) string { return words + " " + quoted(c) }}
	}
	round := func(open, end string) wrapper {
		return wrapper{name: open + "…" + end, inside: true, wrap: func(c string) string { return open + c + "\n" + end }}
	}
	all := []wrapper{
		round("( ", ")"), round("{ ", "}"), round("if true; then ", "fi"), round("true || { ", "}"),
		round("for i in 1; do ", "done"), round("while false; do ", "done"), round(`echo "$( `, `)"`),
		round("cat <( ", ")"), round("f() { ", "}; f"), round("case x in x) ", ";; esac"),
		round("sh <<'END_OF_IT'\n", "END_OF_IT"), round("cat <<'END_OF_IT' | bash\n", "END_OF_IT"),
	}
	for _, words := range []string{
		"sh -c", "bash -c", "bash -lc", "/bin/sh -c", "eval", "sudo sh -c", "sudo -u root bash -c", "doas sh -c",
		"env A=1 sh -c", "env -u A bash -c", "A=1 sh -c", "command sh -c", "builtin eval", "exec sh -c",
		"nice -n 5 sh -c", "ionice -c 3 sh -c", "chrt -b 0 sh -c", "taskset -c 0 sh -c", "nohup sh -c",
		"setsid -w sh -c", "timeout 10 sh -c", "timeout -k 5 10s bash -c", "/usr/bin/time -v sh -c",
		"stdbuf -oL sh -c", "flock /tmp/l sh -c", "flock /tmp/l -c", "script -q /dev/null -c", "watch -n 2",
		"strace -f sh -c", "busybox sh -c", "su -c", "npx -c", "poetry run sh -c", "uv run sh -c",
		"bundle exec sh -c", "mise exec -- sh -c", "caffeinate -i sh -c", "systemd-run --user sh -c",
		"echo x | xargs -n1 sh -c", "find . -maxdepth 0 -exec sh -c", "git bisect run sh -c",
		"time sh -c", "! sh -c", "coproc sh -c", "sh -c 'eval \"$1\"' _",
	} {
		w := before(words)
		if strings.HasPrefix(words, "find ") {
			w.wrap = func(c string) string { return words + " " + quoted(c) + ` \;` }
		}
		all = append(all, w)
	}
	return all
}

// whole reports whether a shell can read a text, and the text has at least one
// command.
func whole(text string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	return err == nil && len(file.Stmts) > 0
}

// legible reports whether a text has only characters that a command may have.
func legible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}

// fixed reports whether a command has the same meaning everywhere. It reads no
// parameters, which differ inside a function or another shell. It has no braces
// that find would fill.
func fixed(text string) bool {
	return !slices.ContainsFunc([]string{"$@", "$*", "$1", "$!", "${1", "{}"}, func(param string) bool {
		return strings.Contains(text, param)
	})
}

// grave is a finding as far as wrapping and quoting must leave it alone.
type grave struct {
	tier            risk.Tier
	opaque, blocked bool
}

func judge(rules *risk.Rules, c corpusCase, text string) grave {
	c.Command = text
	f := rules.Classify(c.action(), corpusPlace(true, !c.Unpublished))
	return grave{tier: f.Tier, opaque: f.Opaque, blocked: f.Blocked}
}

func TestWrappingNeverLowersATier(t *testing.T) {
	t.Parallel()
	rules, all := loadRules(t), wrappers()
	every := campaign.Rounds(t, 5, 1) // in the gate by turns: each command, and each wrapper
	for i, c := range corpus(t) {
		if !fixed(c.Command) {
			continue
		}
		bare := judge(rules, c, c.Command)
		if bare == (grave{tier: risk.Safe}) {
			continue // nothing is lower
		}
		readable := whole(c.Command)
		for n, w := range all {
			if (i+n)%every != 0 || w.inside && !readable {
				continue
			}
			got := judge(rules, c, w.wrap(c.Command))
			if got.tier < bare.tier || bare.blocked && !got.blocked {
				t.Errorf("%s in %s = %v, bare %v", c, w.name, got, bare)
				break
			}
		}
	}
}

// TestWrappingKeepsSafeCommandsSafe holds that a wrapper that is understood
// makes nothing graver either.
func TestWrappingKeepsSafeCommandsSafe(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	names := []string{"( …)", "{ …}", "sh -c", "bash -lc", "timeout 10 sh -c", "A=1 sh -c"}
	plain := slices.DeleteFunc(wrappers(), func(w wrapper) bool { return !slices.Contains(names, w.name) })
	if len(plain) != len(names) {
		t.Fatalf("%d wrappers have the names %q", len(plain), names)
	}
	for _, c := range corpus(t) {
		if c.class != "lookalike" || !fixed(c.Command) || !whole(c.Command) {
			continue
		}
		if bare := judge(rules, c, c.Command); bare.tier != risk.Safe {
			continue // TestCorpusTiers says so already
		}
		for _, w := range plain {
			if got := judge(rules, c, w.wrap(c.Command)); got.tier != risk.Safe {
				t.Errorf("%s in %s = %v, bare SAFE", c, w.name, got)
			}
		}
	}
}

func TestTheWorstPartDecides(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	first := []string{"true", "git push", "npm publish", "rm -rf src", "git gc"}
	every := campaign.Rounds(t, len(first), 1) // in the gate each command follows a single command of first
	for i, c := range corpus(t) {
		if !whole(c.Command) || !legible(c.Command) {
			continue // all of a text is unreadable if a part of it is
		}
		bare := judge(rules, c, c.Command)
		for n, before := range first {
			if (i+n)%every != 0 {
				continue
			}
			other := judge(rules, c, before)
			want := grave{max(bare.tier, other.tier), bare.opaque || other.opaque, bare.blocked || other.blocked}
			for _, between := range []string{" ; ", "\n", " & ", " && { ", " || { "} {
				end := ""
				if strings.HasSuffix(between, "{ ") {
					end = "\n}"
				}
				if got := judge(rules, c, before+between+c.Command+end); got != want {
					t.Errorf("%s after %q%q = %v, want %v", c, before, between, got, want)
				}
			}
			// Without the braces only the first of several commands depends on
			// the command before. State that it sets is not certain for the
			// commands after it.
			for _, between := range []string{" && ", " || "} {
				got := judge(rules, c, before+between+c.Command)
				if got.tier < want.tier || want.opaque && !got.opaque || want.blocked && !got.blocked {
					t.Errorf("%s after %q%q = %v, want %v at least", c, before, between, got, want)
				}
			}
		}
	}
}

func TestBlanksAndCommentsChangeNothing(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	for _, c := range corpus(t) {
		if !whole(c.Command) {
			continue
		}
		want := judge(rules, c, c.Command)
		for _, text := range []string{
			"  " + c.Command, "\n\t\n" + c.Command, c.Command + "\n\n", c.Command + "\n# rm -rf / and kill -9 1",
			"# git push --force\n" + c.Command, c.Command + "\n:", c.Command + "\n\t  \n",
		} {
			if got := judge(rules, c, text); got != want {
				t.Errorf("%s written as %q = %v, want %v", c, text, got, want)
			}
		}
	}
}

// TestQuotingChangesNothing quotes every plain word of a command in another
// way.
func TestQuotingChangesNothing(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	ways := map[string]func(word string) string{
		"single":  quoted,
		"double":  func(w string) string { return `"` + w + `"` },
		"split":   func(w string) string { return w[:1] + "''" + w[1:] },
		"halves":  func(w string) string { return quoted(w[:len(w)/2]) + `"` + w[len(w)/2:] + `"` },
		"dollar":  func(w string) string { return "$" + quoted(w) },
		"escaped": func(w string) string { return `\` + w },
	}
	for _, c := range corpus(t) {
		// A quoted name is no alias, and a backslash has another meaning
		// between backquotes.
		if !whole(c.Command) || strings.Contains(c.Command, "alias ") || strings.Contains(c.Command, "`") {
			continue
		}
		want := judge(rules, c, c.Command)
		for name, way := range ways {
			text := requote(t, c.Command, way)
			if got := judge(rules, c, text); got != want {
				t.Errorf("%s, quoted (%s) as %q = %v, want %v", c, name, text, got, want)
			}
		}
	}
}

// requote writes the words of all simple commands in another way, those at
// least that are nothing but letters, digits and a few signs.
func requote(t *testing.T, text string, way func(string) string) string {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	var words []*syntax.Lit
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for _, word := range call.Args {
			if lit, ok := word.Parts[0].(*syntax.Lit); ok && len(word.Parts) == 1 && plainWord(lit.Value) {
				words = append(words, lit)
			}
		}
		return true
	})
	slices.SortFunc(words, func(a, b *syntax.Lit) int { return int(b.Pos().Offset()) - int(a.Pos().Offset()) })
	for _, lit := range words {
		start, end := lit.Pos().Offset(), lit.End().Offset()
		text = text[:start] + way(text[start:end]) + text[end:]
	}
	return text
}

func plainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-./=,_", r)
	})
}

// TestTextIsNoCommand holds for every command of the corpus, the gravest too:
// where it is only mentioned, nothing is asked.
func TestTextIsNoCommand(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	mentions := map[string]func(string) string{
		"echo":           func(c string) string { return "echo " + quoted(c) },
		"printf":         func(c string) string { return "printf '%s\\n' " + quoted(c) },
		"commit message": func(c string) string { return "git commit -m " + quoted(c) },
		"long message":   func(c string) string { return "git commit --allow-empty --message=" + quoted(c) },
		"message file":   func(c string) string { return "git commit -F - <<'END_OF_IT'\n" + c + "\nEND_OF_IT" },
		"heredoc":        func(c string) string { return "cat > notes.txt <<'END_OF_IT'\n" + c + "\nEND_OF_IT" },
		"tee":            func(c string) string { return "tee notes.txt <<'END_OF_IT'\n" + c + "\nEND_OF_IT" },
		"grep":           func(c string) string { return "grep -rF -- " + quoted(c) + " src" },
		"log search":     func(c string) string { return "git log --grep=" + quoted(c) },
		"variable":       func(c string) string { return "NOTE=" + quoted(c) },
		"risk explain":   func(c string) string { return "swarm risk explain " + quoted(c) },
	}
	for _, c := range corpus(t) {
		if !legible(c.Command) {
			continue
		}
		for name, mention := range mentions {
			if got := judge(rules, c, mention(c.Command)); got != (grave{tier: risk.Safe}) {
				t.Errorf("%s in %s = %v, want SAFE", c, name, got)
			}
		}
	}
}
