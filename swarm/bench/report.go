package bench

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is swarm.bench/1, described in docs/json.md.
type Report struct {
	Schema     string    `json:"schema"`
	Repository string    `json:"repository"`
	Commit     string    `json:"commit"`
	Files      int       `json:"files"`
	Size       int64     `json:"bytes"` // of a checkout
	Agents     int       `json:"agents"`
	Sample     int       `json:"sample"`
	Cores      int       `json:"cores"`
	Load       *float64  `json:"load,omitempty"` // when it began; nil where the system does not tell
	Git        string    `json:"git"`
	System     string    `json:"system"`
	Dir        string    `json:"dir,omitempty"` // the kept folder
	Rows       []Row     `json:"rows"`
	Passed     []Passed  `json:"passed_over"` // backends that do not work here
	Commands   []Command `json:"commands"`    // the baseline, to be pasted
}

// Passed is a backend that does not work here.
type Passed struct {
	Backend string `json:"backend"`
	Reason  string `json:"reason"`
}

// Command is a part of the baseline as a person would type it.
type Command struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// Step is the subject of a row.
type Step string

// The steps, in order.
const (
	StepCreate  Step = "create"      // workspaces, where the base is there
	StepCold    Step = "create_cold" // the same, the base included
	StepDisk    Step = "disk"
	StepCapture Step = "capture"
	StepMerge   Step = "merge"         // in memory
	StepLand    Step = "merge_command" // `swarm merge` as a whole
	StepEnds    Step = "end_to_end"
	StepBusy    Step = "end_to_end_busy"
)

// Row is a figure of swarm's beside the figure it is compared with.
type Row struct {
	Step     Step   `json:"step"`
	Backend  string `json:"backend,omitempty"`
	Against  string `json:"against"`
	Baseline Figure `json:"baseline"`
	Swarm    Figure `json:"swarm"`
	// Ratio is how many times faster swarm is; but of a disk and end to end,
	// how many times the baseline it takes.
	Ratio float64 `json:"ratio"`
	Goal  *Goal   `json:"goal,omitempty"`
}

// Figure is a time or a size, for all there is to do.
type Figure struct {
	MS     float64 `json:"ms,omitempty"`       // the median of rounds
	Least  float64 `json:"least_ms,omitempty"` // the least of them
	Bytes  int64   `json:"bytes,omitempty"`
	Run    int     `json:"run"` // how many were really done
	Of     int     `json:"of"`  // and the number it was scaled to
	Rounds int     `json:"rounds"`
}

// Goal is the target of a ratio.
type Goal struct {
	AtLeast float64 `json:"at_least,omitempty"`
	AtMost  float64 `json:"at_most,omitempty"`
	Met     bool    `json:"met"`
}

// inverse reports whether a ratio says how much more swarm takes.
func (s Step) inverse() bool { return s == StepDisk || s == StepEnds || s == StepBusy }

// goal returns the target of a step's row against a baseline; nil for none.
func goal(s Step, against string) *Goal {
	switch {
	case s == StepCreate:
		return &Goal{AtLeast: 100}
	case s == StepDisk:
		return &Goal{AtMost: 0.02}
	case s == StepCapture:
		return &Goal{AtLeast: 10}
	case s == StepMerge && against == againstAm:
		return &Goal{AtLeast: 100}
	case s == StepMerge && against == againstLoop:
		return &Goal{AtLeast: 5}
	case s == StepEnds:
		return &Goal{AtMost: 5}
	default:
		return nil
	}
}

// add adds a row. A goal is for the backend that a run would take.
func (b *bench) add(r Row) {
	r.Ratio = r.Baseline.value() / r.Swarm.value()
	if r.Step.inverse() {
		r.Ratio = r.Swarm.value() / r.Baseline.value()
	}
	if r.Backend == "" || r.Backend == string(b.fields[0].backend) {
		r.Goal = goal(r.Step, r.Against)
	}
	if g := r.Goal; g != nil {
		g.Met = g.AtLeast > 0 && r.Ratio >= g.AtLeast || g.AtMost > 0 && r.Ratio <= g.AtMost
	}
	b.report.Rows = append(b.report.Rows, r)
}

// value returns the compared value; never 0.
func (f Figure) value() float64 {
	if f.Bytes > 0 {
		return float64(f.Bytes)
	}
	return max(f.MS, 0.001)
}

// rounds are the times of something done over and over.
type rounds []time.Duration

// time does something and keeps how long it took.
func (r *rounds) time(do func() error) error {
	began := time.Now()
	err := do()
	*r = append(*r, time.Since(began))
	return err
}

// figure is the median, of which run were done, scaled to all there are.
func (r rounds) figure(run, of int) Figure {
	sorted := slices.Sorted(slices.Values(r))
	took := sorted[len(sorted)/2]
	if n := len(sorted); n%2 == 0 {
		took = (sorted[n/2-1] + sorted[n/2]) / 2
	}
	scaled := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 * float64(of) / float64(run) }
	return Figure{MS: scaled(took), Least: scaled(sorted[0]), Run: run, Of: of, Rounds: len(r)}
}

// load is how many processes wanted the cores in the last minute.
func load() *float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return nil
	}
	return &n
}
