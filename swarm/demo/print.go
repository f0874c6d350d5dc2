package demo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"time"
)

// announce tells where the monorepo is and what happens to it now.
func (d *demo) announce() {
	fmt.Fprintf(d.env.Stdout, `A monorepo of %d packages (%d files, 1 commit) is in
  %s
%[1]d agents now move it from kv.%[4]s to kv.%[5]s, all at once, each in a
workspace of its own. Five of them are set up to go wrong.

`, len(d.packages), len(d.tree), d.repo.dir, oldName, newName)
}

// report prints the figures of a demo that went as planned.
func (d *demo) report(f *facts) error {
	tests, tested, err := countTests(f.landed)
	if err != nil {
		return fmt.Errorf("count the tests: %w", err)
	}
	count := map[outcome]int{}
	for _, p := range d.packages {
		count[planned(p.Name)]++
	}
	id := func(name string) string {
		a, _ := f.agent(name)
		return a.ID
	}
	// Everything below was compared with the run, so plan and facts are the
	// same.
	w := d.env.Stdout
	line := func(n int, format string, args ...any) {
		fmt.Fprintf(w, "  %3d  %s\n", n, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(w, "\nDone in %.1fs, all as planned:\n\n", time.Since(d.began).Seconds())
	line(f.peak, "agents were alive at once")
	line(count[lands]+count[keptBack], "completed, and the tests of their packages pass")
	line(count[unverified], "completed, but its check failed: %s (%s), which changed a text its test pins",
		id(breaksATest), breaksATest)
	line(count[refused], "failed by itself: %s (%s), which found a call a person must look at",
		id(refuses), refuses)
	line(count[timedOut], "ran into its time-out: %s (%s)", id(hangs), hangs)
	line(count[lands], "patches merged into the branch %s", landed)
	line(count[keptBack], "conflict was kept back: %s (%s) with %s (%s) in %s",
		id(comesSecond), comesSecond, id(landsFirst), landsFirst, callersFile)
	line(tests, "tests in %d packages pass on that branch", tested)
	line(0, "files changed in the checkout, and nothing in its index, config or branches")

	look := func(what, why string) {
		fmt.Fprintf(w, "  %s -C %s %-12s # %s\n", d.env.Calls, quote(d.repo.dir), what, why)
	}
	fmt.Fprint(w, "\nLook at it:\n\n")
	look("status", "every agent and how it ended")
	look("diff "+id(landsFirst), "what one of them changed")
	look("show "+id(refuses), "why one failed")
	look("logs "+id(landsFirst), "what one of them said")
	fmt.Fprintf(w, "  git -C %s log --stat %s\n", quote(d.repo.dir), landed)
	return nil
}

// farewell tells how to remove the files that the demo leaves for the user to
// look at.
func (d *demo) farewell() {
	fmt.Fprint(d.env.Stdout, "\nRemove it:\n\n")
	if d.run != "" {
		// Some of its patches landed nowhere, which rm asks to be sure of.
		fmt.Fprintf(d.env.Stdout, "  %s -C %s rm %s --force\n", d.env.Calls, quote(d.repo.dir), d.run)
	}
	fmt.Fprintf(d.env.Stdout, "  rm -rf %s\n", quote(d.repo.dir))
}

// countTests counts the test functions of a tree and the packages they are in.
func countTests(tree files) (tests, packages int, err error) {
	in := map[string]bool{}
	for rel, text := range tree {
		if !strings.HasSuffix(rel, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), rel, text, parser.SkipObjectResolution)
		if err != nil {
			return 0, 0, err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				tests++
				in[path.Dir(rel)] = true
			}
		}
	}
	return tests, len(in), nil
}

// quote returns a path as a single word of a shell.
func quote(at string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+,:@%", r)
	}
	if at != "" && strings.TrimLeftFunc(at, plain) == "" {
		return at
	}
	return "'" + strings.ReplaceAll(at, "'", `'\''`) + "'"
}
