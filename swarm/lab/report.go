package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/lab/measure"
	"agentswarm/swarm/lab/stat"
	"agentswarm/variants"
)

// Schema is the schema's name in a report.
const Schema = "swarm.lab/1"

// Report is the result of transcripts. It is swarm.lab/1, described in
// docs/json.md.
type Report struct {
	Schema string `json:"schema"`
	Title  string `json:"title"`
	// Synthetic is set where any of the transcripts was made by hand: then the
	// figures say nothing of any model.
	Synthetic   bool         `json:"synthetic"`
	Models      []string     `json:"models"`
	Agents      []string     `json:"agents"`
	Transcripts int          `json:"transcripts"`
	Missing     int          `json:"missing"`
	Dir         string       `json:"dir,omitempty"`
	Failures    []Failure    `json:"failures"`
	Modes       []ModeReport `json:"modes"`
}

// ModeReport is the result for a failure mode.
type ModeReport struct {
	Family  string `json:"family"`
	Mode    string `json:"mode"`
	Failure string `json:"failure,omitempty"`
	Tasks   int    `json:"tasks"`
	Rows    []Row  `json:"rows"`
}

// Row is a measure. A field that needs both arms is nil if an arm is missing.
type Row struct {
	Measure string `json:"measure"`
	Says    string `json:"says"`
	Better  string `json:"better"` // lower or higher
	First   bool   `json:"first"`  // the mode is judged by it
	// Off and On are the means over the pairs; without any, over the tasks that
	// have a figure in that arm.
	Off *float64 `json:"off,omitempty"`
	On  *float64 `json:"on,omitempty"`
	// Pairs are the tasks with a figure in both; LeftOut those of the others.
	Pairs      int       `json:"pairs"`
	LeftOut    int       `json:"left_out"`
	Difference *float64  `json:"difference,omitempty"` // mean of on less off, over the pairs
	Low        *float64  `json:"low,omitempty"`        // of its 95 % interval
	High       *float64  `json:"high,omitempty"`
	P          *float64  `json:"p,omitempty"`
	Test       stat.Test `json:"test,omitempty"`
	Points     []Point   `json:"points"`
}

// Point is a task: the means of its repeats.
type Point struct {
	Task string   `json:"task"`
	Off  *float64 `json:"off,omitempty"`
	On   *float64 `json:"on,omitempty"`
}

// Summarize computes the report of transcripts.
func Summarize(all []*Transcript) (*Report, error) {
	known, err := variants.Embedded()
	if err != nil {
		return nil, err
	}
	r := &Report{Schema: Schema, Transcripts: len(all), Models: []string{}, Agents: []string{}, Failures: []Failure{}, Modes: []ModeReport{}}
	modes := map[[2]string][]*Transcript{}
	for _, t := range all {
		r.Synthetic = r.Synthetic || t.Synthetic
		r.Models, r.Agents = with(r.Models, t.Model), with(r.Agents, t.Agent)
		key := [2]string{t.Family, t.Mode}
		modes[key] = append(modes[key], t)
	}
	for key, of := range modes {
		m := ModeReport{Family: key[0], Mode: key[1], Rows: rows(of)}
		m.Tasks = len(byTask(of))
		for _, v := range known {
			if string(v.Family) == m.Family && v.Mode == m.Mode {
				m.Failure = v.Failure
			}
		}
		r.Modes = append(r.Modes, m)
	}
	slices.SortFunc(r.Modes, func(a, b ModeReport) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Mode, b.Mode))
	})
	r.Title = "Variants, off and on: " + cmp.Or(strings.Join(r.Models, ", "), "no model")
	if r.Synthetic {
		r.Title = "SYNTHETIC, made by hand, no model was asked: " + r.Title
	}
	return r, nil
}

// with adds a word that is not there.
func with(words []string, word string) []string {
	if word == "" || slices.Contains(words, word) {
		return words
	}
	words = append(words, word)
	slices.Sort(words)
	return words
}

// taskRuns are the transcripts of a task.
type taskRuns struct {
	name string
	all  []*Transcript
}

func byTask(all []*Transcript) []taskRuns {
	var of []taskRuns
	for _, t := range all {
		// Two models that did the same task are two pairs.
		name := t.Task
		at := slices.IndexFunc(of, func(r taskRuns) bool {
			return r.name == name && r.all[0].Model == t.Model && r.all[0].Agent == t.Agent
		})
		if at < 0 {
			of = append(of, taskRuns{name: name})
			at = len(of) - 1
		}
		of[at].all = append(of[at].all, t)
	}
	return of
}

func rows(all []*Transcript) []Row {
	var rows []Row
	of := byTask(all)
	for i, name := range measure.ForMode(all[0].Mode) {
		m, ok := measure.Find(name)
		if !ok {
			panic("a mode names the measure " + name + ", which is none")
		}
		row := newRow(m, of)
		row.First = i == 0
		rows = append(rows, row)
	}
	return rows
}

func newRow(m measure.Measure, of []taskRuns) Row {
	row := Row{Measure: m.Name, Says: m.Says, Better: "lower"}
	if m.Higher {
		row.Better = "higher"
	}
	var off, on, first, second, diffs []float64
	for _, t := range of {
		p := Point{Task: t.name, Off: meanOf(m, t.all, Off), On: meanOf(m, t.all, On)}
		row.Points = append(row.Points, p)
		if p.Off != nil {
			off = append(off, *p.Off)
		}
		if p.On != nil {
			on = append(on, *p.On)
		}
		if p.Off == nil || p.On == nil {
			row.LeftOut++
			continue
		}
		first, second, diffs = append(first, *p.Off), append(second, *p.On), append(diffs, *p.On-*p.Off)
	}
	row.Pairs = len(diffs)
	row.Off, row.On = mean(off), mean(on)
	if row.Pairs == 0 {
		return row
	}
	row.Off, row.On, row.Difference = mean(first), mean(second), mean(diffs)
	if row.Pairs > 1 { // a single task does not show the spread
		within := stat.MeanInterval(diffs)
		row.Low, row.High = &within.Low, &within.High
	}
	p, test := stat.Paired(first, second)
	row.P, row.Test = &p, test
	return row
}

// meanOf is the mean of a measure over the repeats of a task; nil for none.
func meanOf(m measure.Measure, all []*Transcript, arm Arm) *float64 {
	var xs []float64
	for _, t := range all {
		if t.Arm != arm {
			continue
		}
		if x, ok := m.Of(t.Work()); ok {
			xs = append(xs, x)
		}
	}
	return mean(xs)
}

func mean(xs []float64) *float64 {
	if len(xs) == 0 {
		return nil
	}
	x := stat.Mean(xs)
	return &x
}

// Verdict returns the result of a row, in a word or two. The test goes by
// ranks: if the mean may as well be on the other side of 0, it decides for
// neither.
func (r *Row) Verdict() string {
	switch {
	case r.Pairs == 0:
		return "no pair"
	case *r.P >= 0.05, r.Low == nil, *r.Low <= 0 && *r.High >= 0:
		return "not told apart"
	case (*r.Difference > 0) == (r.Better == "higher"):
		return "better"
	default:
		return "worse"
	}
}

// Figure is a number as tables have it; a dash for none.
func Figure(x *float64) string {
	if x == nil {
		return "-"
	}
	text := fmt.Sprintf("%.2f", *x)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}
