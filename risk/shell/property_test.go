package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

// has reports whether an invocation of rm with these words was found.
func has(c *Script, words ...string) bool {
	return slices.ContainsFunc(c.Invocations, func(v Invocation) bool {
		text, _ := argv.Text(v.Args)
		return v.Program == words[0] && slices.Equal(text, words[1:])
	})
}

// TestWrapped puts a command into every construct that runs a command.
func TestWrapped(t *testing.T) {
	t.Parallel()
	r := reader(t)
	quotedText := "'rm -rf x'"
	wrappers := []string{
		"%s", "( %s )", "{ %s; }", "! %s", "if a; then %s; fi", "if %s; then a; fi", "while %s; do a; done", "for i in 1 2; do %s; done",
		"case a in a) %s;; esac", "a && %s", "a || %s", "%s & a", "a | %s", "%s | a", "f() { %s; }", "f() { %s; }; f", "echo $(%s)", "echo `%s`", "cat <(%s)",
		"x=$(%s)", "export x=$(%s)", "x=(a $(%s))", "echo ${x:-$(%s)}", "echo \"$(%s)\"", "cat <<E\n$(%s)\nE", "a > $(%s)", "echo $(( $(%s) ))", "[[ -n $(%s) ]]",
		"time %s", "coproc %s", "A=1 %s", "%s > f", "cd a && %s", "a; %s # note", "a\n%s\nb", "sudo %s", "sudo -u u -- %s", "doas %s", "env %s", "env -u X A=1 %s",
		"command %s", "builtin command %s", "exec %s", "nice %s", "nice -n 5 %s", "nice -5 %s", "ionice -c3 %s", "chrt -f 1 %s", "taskset 1 %s", "nohup %s", "setsid -f %s", "timeout 1 %s", "timeout -s KILL 1 %s",
		"stdbuf -o0 %s", "unbuffer %s", "watch %s", "watch -x %s", "flock f %s", "flock -n f %s", "strace -f %s", "ltrace %s", "xargs %s < /dev/null", "find . -exec %s ';'", "find . -execdir %s \\;",
		"fd x -X %s \\;", "parallel %s ::: ''", "busybox %s", "toybox %s", "chroot / %s", "unshare -r %s", "nsenter -t 1 %s", "firejail --quiet %s", "bwrap --ro-bind / / -- %s", "systemd-run --user %s",
		"caffeinate %s", "proxychains4 %s", "direnv exec . %s", "mise exec -- %s", "asdf exec %s", "npx %s", "pnpm dlx %s", "yarn dlx %s", "bunx %s", "npm exec -- %s", "poetry run %s", "uv run %s", "pipenv run %s",
		"bundle exec %s", "docker run -it --rm i %s", "podman exec c %s", "docker compose run web %s", "kubectl exec p -- %s", "kubectl -n x exec p -it -- %s", "ssh h %s", "ssh -i k -p 1 u@h %s", "git bisect run %s", "git submodule foreach %s",
		"su -c Q", "su u -c Q", "runuser -u u -- %s", "sh -c Q", "bash -lc Q", "bash +e -c Q", "bash +o posix -e +x -c Q", "bash -c -- Q", "eval -- Q", "trap -- Q INT", "perl -lne 'system(\"rm -rf x\")'", "perl -0777 -pe 'system(\"rm -rf x\")'", "ruby -lne 'system(\"rm -rf x\")'", "bash -e -u -c Q", "bash -o pipefail -c Q", "zsh -c Q", "dash -c Q", "eval Q", "eval %s", "trap Q EXIT", "script -qc Q /dev/null", "flock f -c Q",
		"watch Q", "ssh h Q", "git rebase -x Q", "git rebase --exec=Q", "git -c alias.y='!rm -rf x' y", "git -c core.sshCommand=Q fetch", "git filter-branch --index-filter Q", "env -S Q", "npm exec -c Q", "sh <<< Q", "sh <<E\n%s\nE", "echo Q | sh", "echo Q | sudo bash -s",
		"cat <<'E' | bash\n%s\nE", "printf 'rm -rf %%b' x | sh", "source <(echo Q)", ". /dev/stdin <<< Q", "bash <(echo Q)", "sh /dev/stdin <<< Q", "PAGER=Q git log", "export GIT_EDITOR=Q; git commit", "alias a=Q", "at now <<< Q",
		"echo Q > s; sh s", "echo Q > s; . ./s", "printf Q > s && chmod +x s && ./s", "python3 -c 'import os; os.system(\"rm -rf x\")'", "python3 <<E\nimport shutil\nshutil.rmtree('x')\nE", "perl -e 'system \"rm -rf x\"'",
		"ruby -e 'system(\"rm -rf x\")'", "php -r 'exec(\"rm -rf x\");'", "node -e 'child_process.execSync(\"rm -rf x\")'", "awk 'BEGIN { system(\"rm -rf x\") }'", "vim -c '!rm -rf x'", "sed '1e rm -rf x'", "make SHELL=Q", "tar cf a --checkpoint-action=exec=Q b",
		"nix develop .#x -c %s", "xterm -T t -e %s", "ssh h -- %s", "timeout 1 -- %s", "expect -c x; %s", "tmux new-session -d Q", "hyperfine Q", "entr %s", "setpriv --reuid 1 %s", "\\command %s", "'command' %s", "/usr/bin/env %s", "/bin/sh -c Q", "python3.12 -c 'import os; os.system(\"rm -rf x\")'", "bash -c \"bash -c Q\"",
	}
	for _, wrapper := range wrappers {
		text := strings.ReplaceAll(wrapper, "Q", quotedText)
		if strings.Contains(text, "%") {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "%s", "rm -rf x"), "%%", "%")
		}
		c := r.Read(text, here())
		found := slices.ContainsFunc(c.Invocations, func(v Invocation) bool {
			return v.Program == "rm" && len(v.Args) > 1 && v.Args[0].Value == "-rf" && v.Args[1].Value == "x"
		})
		if !found {
			t.Errorf("%q: rm -rf x is not found: %s", text, spell(c))
		}
	}
}

// TestSpelled spells a command in other ways.
func TestSpelled(t *testing.T) {
	t.Parallel()
	r := reader(t)
	plain := []string{"rm", "-rf", "a b", "c'd", "é*", "x\ny", "~", "$x", "{a,b}", "", "#", "-"}
	quote := func(w string) string {
		text, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	slashed := func(w string) string {
		var b strings.Builder
		for _, c := range w {
			if c == '\n' {
				b.WriteString("$'\\n'")
			} else {
				b.WriteString("\\" + string(c))
			}
		}
		return b.String() + "''"
	}
	single := func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'" }
	double := func(w string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(w) + `"`
	}
	split := func(w string) string {
		var b strings.Builder
		for _, c := range w {
			b.WriteString(single(string(c)) + `""''`)
		}
		return b.String() + "''"
	}
	ansi := func(w string) string {
		var b strings.Builder
		for _, c := range []byte(w) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		return "$'" + b.String() + "'"
	}
	variable := func(w string) string { return `"${v:-$(printf %s ` + single(w) + `)}"` }
	for name, way := range map[string]func(string) string{"quote": quote, "backslash": slashed, "single": single, "double": double, "split": split, "ANSI": ansi} {
		var words []string
		for _, w := range plain {
			words = append(words, way(w))
		}
		text := strings.Join(words, " ")
		c := r.Read("unset v; "+text, here())
		if !has(c, plain...) || len(c.Opaque) > 0 {
			t.Errorf("%s: %q reads as %s", name, text, spell(c))
		}
		for _, noise := range []string{"%s # rm -rf /", "\t %s\t", "\n\n%s\n\n", "%s \\\n"} {
			if got := spell(r.Read(strings.Replace(noise, "%s", text, 1), here())); got != spell(r.Read(text, here())) {
				t.Errorf("%s: %q reads as %s", name, strings.Replace(noise, "%s", text, 1), got)
			}
		}
	}
	if c := r.Read("unset v; "+variable("rm")+" x", here()); !has(c, "rm", "x") {
		t.Errorf("a default reads as %s", spell(c))
	}
}

// TestData puts a command where it is only text.
func TestData(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for _, text := range []string{
		"echo 'rm -rf x'", "echo \"rm -rf x\"", "git commit -m 'rm -rf x'", "cat > f <<'E'\nrm -rf x\nE", "cat > f <<E\nrm -rf x\nE", "grep 'rm -rf x' f", "git log --grep='rm -rf x' -S 'rm -rf x'", "# rm -rf x",
		"git commit -F - <<'E'\nrm -rf x\nE", "echo a # rm -rf x", "x='rm -rf x'; echo \"$x\"", "printf '%s' 'rm -rf x' > f", "swarm risk explain 'rm -rf x'", "gh pr create --body \"$(cat <<'E'\nrm -rf x\nE\n)\"", "python3 -c 'print(\"rm -rf x\")'",
		"python3 - <<'E'\n# os.system('rm -rf x')\ns = 'rm -rf x'\nE", "node -e 'console.log(\"rm -rf x\") // execSync(\"rm\")'", "awk '/rm -rf x/' f", "sed 's/rm -rf x/y/' f", "jq '.a | \"rm -rf x\"' f", "tee f <<< 'rm -rf x'", "[[ $a == 'rm -rf x' ]]", "ls 'rm -rf x'",
		"rg -e 'rm -rf x'", "perl -ne 'print if /rm -rf x/' f", "case 'rm -rf x' in a) ;; esac", "trap - EXIT", "command -v rm", "type rm", "man rm", "bash -n x.sh", "docker build -t 'rm' .", "make -n clean", "npm run 'rm -rf x'", "ruby -e 'puts \"rm -rf x\"'",
	} {
		c := r.Read(text, here())
		if slices.ContainsFunc(c.Invocations, func(v Invocation) bool { return v.Program == "rm" }) || len(c.Opaque) > 0 {
			t.Errorf("%q reads as %s", text, spell(c))
		}
	}
}

// TestEveryCall compares the visited calls with every call in the tree.
func TestEveryCall(t *testing.T) {
	t.Parallel()
	r := reader(t)
	texts := []string{
		"a $(b `c`) <(d) \"$(e)\" ${f:-$(g)} ${h/$(i)/$(j)} ${k:$(l):$(m)} $((n + $(o)))",
		"if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done; for j in $(k); do l; done; for ((m=$(n);;)); do o; done; select p in q; do r; done",
		"case $(a) in $(b)) c;; d|$(e)) f;& *) g;; esac; { h; }; ( i ); j && k || l | m |& n; o & ! p; time q; coproc r",
		"f() { a; }; g() ( b; ); function h { c; }; h; x=$(d); y=(e $(f2)); z[$(g2)]=i; declare k=$(l); export m=$(n) o=(p $(q)); let 'r' s=$(t); [[ -f $(u) && $(v) == $(w) ]]; (( $(x) ))",
		"a > $(b) < $(c) <<< $(d) 2> >(e); cat <<E\n$(f) ${g:-$(h)}\nE",
		"a() { b() { c; }; }; d() { e; }; d d; unset -f d",
		"x=(a [$(b)]=c); ${x[$(d)]} e; ${!x[$(f)]}; echo ${x[@]:$(g)} ${x[*]#$(h)} @($(i)|b) {a,$(j)} ~/$(k)",
	}
	for _, text := range texts {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		c := r.Read(text, here())
		for n := range syntax.Preorder(file) {
			call, ok := n.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 {
				continue
			}
			at := int(call.Pos().Offset())
			if !slices.ContainsFunc(c.Invocations, func(v Invocation) bool { return v.Span.Start == at }) {
				t.Errorf("%q: the call at %d (%s) was not visited: %s", text, at, text[at:int(call.End().Offset())], spell(c))
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	r := reader(f)
	for _, text := range []string{
		"rm -rf x", "X=rm; $X -rf \"$@\" ${x:-$(y)}", "bash -c 'a | b' <<E\n$x\nE", "find . -exec rm {} \\; | xargs -I{} sh -c '{}'", "f(){ f; }; f & for i in {1..9}; do eval $i; done",
		"python3 -c 'import os as o; o.system(f\"{x}\" + \"y\")'", "perl -e 'qx{a}; s{a}{b}; unlink <*>'", "echo cm0= | base64 -d | tr a-z b-za | rev | sh", "git -c alias.x='!y' x", "sed 's/a/b/e;w f' ; awk '{print | \"x\"}'",
		"case $x in a) b;; esac; ((i++)); [[ a =~ b ]]; select x in y; do z; done", "node -e 'const {rm: q} = require(\"fs\"); q(`${x}`)'", "make -f - <<< $'a:\\n\\tb'", "printf -v x '%b\\x41' a; env -S \"a 'b'\" c",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := r.Read(text, here())
		if c.Steps > MaxSteps {
			t.Fatalf("%d steps", c.Steps)
		}
		for _, v := range c.Invocations {
			if v.Span.Start < 0 || v.Span.End < v.Span.Start || v.Span.End > len(text) {
				t.Fatalf("span %v of %d bytes", v.Span, len(text))
			}
		}
		for _, o := range c.Opaque {
			if o.Why == "" || o.Span.Start < 0 || o.Span.End < o.Span.Start || o.Span.End > len(text) {
				t.Fatalf("opaque %+v of %d bytes", o, len(text))
			}
		}
		if again := r.Read(text, here()); spell(again) != spell(c) || again.Steps != c.Steps {
			t.Fatalf("read twice: %s (%d steps) and %s (%d)", spell(c), c.Steps, spell(again), again.Steps)
		}
		if before := len(c.Opaque); before > 0 && len(text) < MaxText {
			if c := r.Read("true\n"+text, here()); len(c.Opaque) == 0 {
				t.Fatalf("a command before it makes it readable: %q", text)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := reader(b)
	for name, text := range map[string]string{
		"plain":   "go test ./... -run TestX",
		"typical": `cd /tree/sub && npm test -- --watch=false 2>&1 | tail -20`,
		"wrapped": `sudo -u u env A=1 timeout 5 bash -lc 'cd x && rm -rf "$HOME/y"'`,
		"python":  "python3 - <<'E'\nimport os, subprocess as sp\nfor f in os.listdir('.'):\n    print(f)\nsp.run(['git', 'status'])\nE",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Read(text, here())
			}
		})
	}
}
