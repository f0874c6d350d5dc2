// Command lint is a tool of go vet with the linters of the gate:
//
//	go vet -vettool=lint ./...
//
// It is a module of its own, so that swarm does not depend on linters.
package main

import (
	"go/token"
	"log"
	"slices"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/nishanths/exhaustive"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// unchecked are functions whose error nobody can act on: words for a terminal that is
// gone, and the end of something that was only read. That a file which was written is closed
// with its error is for reviewers.
var unchecked = []string{
	"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln",
	"(*os.File).Close", "(*os.Root).Close", "(io.Closer).Close", "(io.ReadCloser).Close", "(net.Conn).Close",
	"(*net.UnixConn).Close", "(net.Listener).Close", "(*net.UnixListener).Close",
	"(*net.conn).Close", "golang.org/x/sys/unix.Close", "syscall.Close", "os.Remove", "os.RemoveAll",
	// A script that throws is no fault of swarm's.
	"(*github.com/dop251/goja.Runtime).Try",
	// These were only read, or have reported their error before.
	"(*agentswarm/swarm/control.Client).Close", "(*agentswarm/swarm/proc.Keeper).Close",
	"(*agentswarm/swarm/store.Tail).Close",
	"(*agentswarm/worktree/git.objectFiles).close", "(agentswarm/worktree/git.layeredFiles).close",
}

// off are the checks of staticcheck that are off by default, and S1005, which forbids the
// blank that errcheck asks for.
var off = []string{"S1005", "ST1000", "ST1003", "ST1016", "ST1020", "ST1021", "ST1022", "ST1023"}

func main() {
	errcheck.DefaultExcludedSymbols = append(errcheck.DefaultExcludedSymbols, unchecked...)
	set(exhaustive.Analyzer, exhaustive.DefaultSignifiesExhaustiveFlag, "true")
	// Types of others get constants that concern nobody here.
	set(exhaustive.Analyzer, exhaustive.IgnoreEnumTypesFlag, `^(go/|syscall|mvdan\.cc/|github\.com/)`)
	all := []*analysis.Analyzer{errcheck.Analyzer, exhaustive.Analyzer, reportUnused}
	for _, more := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range more {
			if !slices.Contains(off, a.Analyzer.Name) {
				all = append(all, a.Analyzer)
			}
		}
	}
	unitchecker.Main(all...)
}

// reportUnused reports what the analyzer unused finds. By itself that returns it only.
var reportUnused = &analysis.Analyzer{
	Name: "unused", Doc: unused.Analyzer.Doc.Title, Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, o := range pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result).Unused {
			pass.Fset.Iterate(func(f *token.File) bool {
				if f.Name() != o.Position.Filename {
					return true
				}
				pass.Reportf(f.Pos(o.Position.Offset), "%s %s is unused", o.Kind, o.Name)
				return false
			})
		}
		return nil, nil
	},
}

func set(a *analysis.Analyzer, name, value string) {
	if err := a.Flags.Set(name, value); err != nil {
		log.Fatal(err)
	}
}
