package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mayCompareTimes are functions outside of synctest that compare a time which passed,
// and fail by it on no machine.
func mayCompareTimes() map[string]string {
	return map[string]string{
		"swarm/engine/keeper_test.go TestRecoveryAwaitsTheKeeper": "the test passes if more time went by",
		"swarm/agent/pi/realerrors_test.go TestRealRecovers":      "the test passes if more time went by",
		"swarm/engine/recover_test.go TestRecoverTimes":           "the clock of the recovery is an hour ahead",
		"swarm/limit/window_test.go TestWide":                     "the clock is simulated",
		"swarm/resettime/resettime_test.go FuzzParse":             "both times are given",
	}
}

// TestNoTestBoundsTime: a test passes on a machine of any speed. A time that passed is
// compared in synctest, in a campaign and in a benchmark only.
func TestNoTestBoundsTime(t *testing.T) {
	t.Parallel()
	allowed := mayCompareTimes()
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !comparesTime(fn) {
				continue
			}
			name := filepath.ToSlash(path) + " " + fn.Name.Name
			if allowed[name] == "" {
				t.Errorf("%s compares a time that passed: use synctest, wait for an event, or move the bound to a campaign", name)
			}
			delete(allowed, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowed {
		t.Errorf("%s compares no time any longer: take it from the list", name)
	}
}

// comparesTime reports whether a function compares a span of time with something, or a
// variable that has its value, outside of synctest, campaigns and benchmarks.
func comparesTime(fn *ast.FuncDecl) bool {
	if strings.HasPrefix(fn.Name.Name, "Benchmark") {
		return false
	}
	times, exempt, compares := map[string]bool{}, false, false
	holds := func(e ast.Expr) (found bool) {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || times[n.Name]
			case *ast.CallExpr:
				found = found || isSpan(n)
			}
			return !found
		})
		return found
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if calls(n, "synctest", "Test") || calls(n, "campaign", "Only") || calls(n, "campaign", "Running") {
				exempt = true
			}
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				left, ok := n.Lhs[i].(*ast.Ident)
				if call, is := right.(*ast.CallExpr); ok && is && isSpan(call) {
					times[left.Name] = true
				}
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
				compares = compares || holds(n.X) || holds(n.Y)
			}
		}
		return true
	})
	return compares && !exempt
}

// isSpan reports whether a call returns the time between two moments: time.Since,
// time.Until, or the method Sub of a time.
func isSpan(n *ast.CallExpr) bool {
	s, ok := n.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Sub" && len(n.Args) == 1 || calls(n, "time", "Since") || calls(n, "time", "Until")
}

// TestSpansAreSeen: each way to compare a span of time is seen.
func TestSpansAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"if time.Since(a) < d {}":                            true,
		"left := time.Until(a); _ = left>d":                  true,
		"is(t, b.Sub(a) < d, true)":                          true,
		"took := b.At.Sub(a); _ = took != d":                 true,
		"_ = b.Sub(a).String()":                              false,
		"_ = a.Sub(b, c) < d":                                false,
		"synctest.Test(t, func() { _ = time.Since(a) < d })": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+text+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := comparesTime(f.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("comparesTime(%s) = %t", text, got)
		}
	}
}

// calls reports whether a call is that of a function of a package.
func calls(n *ast.CallExpr, of, name string) bool {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == of
}
