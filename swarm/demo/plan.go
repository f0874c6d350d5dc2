package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// The five that go wrong, by the package they work on, and why:
//
//   - two take their names off the same line of a shared file, so the second
//     conflicts with the first;
//   - one finds a call that a machine must not rewrite, and fails;
//   - one never ends and runs into its time-out: the only one that pretends;
//   - one changes a text that a test has pinned, so its check fails.
const (
	landsFirst  = "invoice"
	comesSecond = "payroll"
	refuses     = "pricing"
	hangs       = "almanac"
	breaksATest = "manual"
)

// How many packages there may be. Any fewer would leave out an agent of the
// five, or a shape that a package can have.
const (
	minPackages = 10
	maxPackages = 100
)

// outcome is how an agent ends according to the plan.
type outcome int

const (
	unplanned  outcome = iota // the zero value is no plan, and never right
	lands                     // completed, verified, merged
	keptBack                  // completed, verified, not merged
	refused                   // ended with exit 1 by itself
	timedOut                  // was ended by its time-out
	unverified                // completed, but its check failed
)

// String returns the name of the outcome in a report.
func (o outcome) String() string {
	switch o {
	case lands:
		return "completed, verified and landed"
	case keptBack:
		return "completed, verified and kept back"
	case refused:
		return "failed by itself"
	case timedOut:
		return "failed by its time-out"
	case unverified:
		return "completed, its check failed"
	default:
		return "not planned"
	}
}

// planned is how the agent of a package ends.
func planned(name string) outcome {
	switch name {
	case comesSecond:
		return keptBack
	case refuses:
		return refused
	case hangs:
		return timedOut
	case breaksATest:
		return unverified
	default:
		return lands
	}
}

// entry is a line of the catalogue: a package to be written.
type entry struct {
	Name  string // of the package and its folder
	shape string // the templates it is made of
	Type  string // the thing it deals in, as a Go name
	attr  string // an attribute of it, lower case
}

//go:embed catalogue.txt
var catalogueText string

// catalogue returns the first n packages, in the order of their names, which
// is the order a glob finds them in.
func catalogue(n int) ([]entry, error) {
	var all []entry
	for line := range strings.Lines(catalogueText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("read the catalogue: %q has %d words instead of 4", line, len(fields))
		}
		all = append(all, entry{Name: fields[0], shape: fields[1], Type: fields[2], attr: fields[3]})
	}
	if n > len(all) {
		return nil, fmt.Errorf("read the catalogue: it has %d packages, not %d", len(all), n)
	}
	all = all[:n]
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
