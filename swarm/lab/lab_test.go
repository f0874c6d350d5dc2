package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/lab/measure"
	"agentswarm/variants"
)

const synthetic = "testdata/synthetic"

func load(t *testing.T) []*Transcript {
	t.Helper()
	all, err := Load(synthetic)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each failure mode has a bad transcript, in the arm that is off, and a good
// transcript. The measure of the mode tells them apart.
func TestMeasuresTellGoodFromBad(t *testing.T) {
	t.Parallel()
	known, err := variants.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	arms := map[string]map[Arm]*Transcript{}
	for _, s := range load(t) {
		if !s.Synthetic {
			t.Errorf("%s is made by hand and does not say so", s.file())
		}
		key := s.Family + "/" + s.Mode
		if arms[key] == nil {
			arms[key] = map[Arm]*Transcript{}
		}
		arms[key][s.Arm] = s
	}
	for _, v := range known {
		key := string(v.Family) + "/" + v.Mode
		bad, good := arms[key][Off], arms[key][On]
		if bad == nil || good == nil {
			t.Errorf("%s: there is no pair of transcripts", key)
			continue
		}
		m, ok := measure.Find(measure.ForMode(v.Mode)[0])
		if !ok {
			t.Fatalf("%s: no measure %q", key, measure.ForMode(v.Mode)[0])
		}
		off, offOK := m.Of(bad.Work())
		on, onOK := m.Of(good.Work())
		if !offOK || !onOK || (on > off) != m.Higher || on == off {
			t.Errorf("%s: %s of the bad one is %g (%t), of the good one %g (%t)", key, m.Name, off, offOK, on, onOK)
		}
	}
}

func TestReportOfSynthetic(t *testing.T) {
	t.Parallel()
	r, err := Summarize(load(t))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Synthetic || !strings.HasPrefix(r.Title, "SYNTHETIC") {
		t.Errorf("synthetic %t, title %q", r.Synthetic, r.Title)
	}
	if len(r.Modes) != 9 {
		t.Errorf("%d modes, want 9", len(r.Modes))
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "<title>SYNTHETIC") || !strings.Contains(page.String(), "<svg") {
		t.Error("the page does not say SYNTHETIC in its title, or has no plot")
	}
	// A single pair has no interval, and a page must not fail on that.
	if row := r.Modes[0].Rows[0]; row.Pairs != 1 || row.Low != nil || *row.P != 1 {
		t.Errorf("of one pair: %d pairs, interval %s, p %g", row.Pairs, row.Between(), *row.P)
	}
	if outside := regexp.MustCompile(`(?i)<script|https?:|<link|@import|url\(`).FindString(page.String()); outside != "" {
		t.Errorf("the page needs %q", outside)
	}
	// A real transcript among them changes nothing of that.
	all := load(t)
	all[0].Synthetic = false
	if r, err := Summarize(all); err != nil || !r.Synthetic {
		t.Errorf("with one that is real: synthetic %t, %v", r.Synthetic, err)
	}
	for _, s := range all {
		s.Synthetic = false
	}
	if r, err := Summarize(all); err != nil || r.Synthetic || strings.Contains(r.Title, "SYNTHETIC") {
		t.Errorf("without any: synthetic %t, title %q, %v", r.Synthetic, r.Title, err)
	}
}

// Quotes of transcripts and failures stay text on a page.
func TestPageEscapes(t *testing.T) {
	t.Parallel()
	all := load(t)
	for _, s := range load(t) { // two pairs of each, so that all plots are drawn
		s.Task = "02"
		all = append(all, s)
	}
	all[0].Model, all[0].Mode = "<b>m</b>", "<i>x</i>"
	r, err := Summarize(all)
	if err != nil {
		t.Fatal(err)
	}
	r.Failures = []Failure{{Agent: "a", Kind: "other", Message: "<script>alert(1)</script>"}}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"<b>", "<i>", "<script"} {
		if strings.Contains(page.String(), tag) {
			t.Errorf("the page holds %s", tag)
		}
	}
}

func TestTranscriptRoundTrip(t *testing.T) {
	t.Parallel()
	want := &Transcript{
		Head: Head{
			Schema: TranscriptSchema, Family: "qwen", Mode: "over-comments", Task: "03", Arm: On, Repeat: 2,
			Prompt: "a <b>\n\"c\"", Paths: []string{"x y"}, Patch: "+ü\n", Answer: "done", Check: "true", Phantom: "z",
		},
		Events: []event.Event{
			&event.Text{Text: "a\nb"}, &event.ToolStart{ID: "1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
			&event.ToolEnd{ID: "1", OK: true, Output: json.RawMessage(`"x"`)}, &event.Answered{Text: "done"},
		},
	}
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(b.Bytes())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %+v, %v, want %+v", got, err, want)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"":                              "not a head of a transcript",
		"{}\n":                          "not a head of a transcript",
		`{"schema":"swarm.event/1"}`:    "not a head of a transcript",
		head(`"arm":"both","repeat":1`): `arm "both"`,
		head(`"arm":"on","repeat":0`):   "repeat 0",
		head(`"arm":"on","repeat":1`) + `{"n":1,"type":"magic","body":{}}`: `line 2: decode record 1: unknown record type "magic"`,
		head(`"arm":"on","repeat":1`) + "\nnot json":                       "line 3: decode record",
	} {
		if _, err := Read([]byte(give)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) = %v, want %q", give, err, want)
		}
	}
}

func head(rest string) string {
	return `{"schema":"swarm.transcript/1","family":"f","mode":"m","task":"01",` + rest + "}\n"
}

func FuzzRead(f *testing.F) {
	all, err := filepath.Glob(synthetic + "/*/*/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Read(text)
		if err != nil {
			return
		}
		for _, m := range measure.All() {
			m.Of(got.Work())
		}
	})
}

func TestLoadRefusesTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := []byte(head(`"arm":"on","repeat":1`))
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "is of the same task, arm and repeat as") {
		t.Errorf("Load = %v", err)
	}
}

// Repeats of a task are a single pair. A task without a figure in either arm is
// left out.
func TestRowPairsTasks(t *testing.T) {
	t.Parallel()
	var all []*Transcript
	add := func(task string, arm Arm, repeat int, answer string) {
		all = append(all, &Transcript{Head: Head{Family: "gpt", Mode: "filler-openers", Task: task, Arm: arm, Repeat: repeat, Answer: answer}})
	}
	add("01", Off, 1, "Sure thing.")
	add("01", Off, 2, "Three files.")
	add("01", On, 1, "Three files.")
	add("02", Off, 1, "Certainly!")
	add("02", On, 1, "It is so.")
	add("03", On, 1, "Nobody to compare with.")
	r, err := Summarize(all)
	if err != nil {
		t.Fatal(err)
	}
	row := r.Modes[0].Rows[0]
	if row.Measure != "banned_opener" || row.Pairs != 2 || row.LeftOut != 1 {
		t.Fatalf("%s: %d pairs, %d left out, want 2 and 1", row.Measure, row.Pairs, row.LeftOut)
	}
	if *row.Off != 0.75 || *row.On != 0 || *row.Difference != -0.75 || row.Test != "wilcoxon" || *row.P != 0.5 {
		t.Errorf("off %g, on %g, difference %g, %s p %g", *row.Off, *row.On, *row.Difference, row.Test, *row.P)
	}
	if row.Low == nil || *row.Low != -1 || *row.High != -0.5 {
		t.Errorf("interval %s", row.Between())
	}
	if got := row.Verdict(); got != "not told apart" {
		t.Errorf("verdict %q", got)
	}
}

// A file among transcripts that is no transcript is named, never waited for; a
// folder may be reached by a link.
func TestLoadOfOddFiles(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(filepath.Join(synthetic, "claude", "false-claims", "01.off.1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(file string) error{
		"is not a file":  func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"is not a file ": func(file string) error { return os.Symlink("/dev/zero", file) },
		"bytes; a transcript may have": func(file string) error {
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, maxTranscript+1))
		},
		"line ":                               func(file string) error { return os.WriteFile(file, whole[:len(whole)-9], 0o600) },
		"the first line is not a head":        func(file string) error { return os.WriteFile(file, []byte("\x00\xff\n"), 0o600) },
		"the first line is not a head of a t": func(file string) error { return os.WriteFile(file, nil, 0o600) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, "odd.jsonl")); err != nil {
			t.Fatal(err)
		}
		var not *TranscriptError
		if _, err := Load(dir); !errors.As(err, &not) || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("Load = %v, want %q", err, name)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	there, err := filepath.Abs(synthetic)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	if all, err := Load(link); err != nil || len(all) == 0 {
		t.Errorf("by a link there are %d transcripts, %v", len(all), err)
	}
}

// A difference that the ranks show and the mean does not is neither better nor
// worse.
func TestVerdict(t *testing.T) {
	t.Parallel()
	at := func(x float64) *float64 { return &x }
	for _, tc := range []struct {
		name string
		row  Row
		want string
	}{
		{"no pair", Row{}, "no pair"},
		{"better", Row{Pairs: 6, Better: "lower", Difference: at(-1), Low: at(-2), High: at(-0.5), P: at(0.03)}, "better"},
		{"worse", Row{Pairs: 6, Better: "higher", Difference: at(-1), Low: at(-2), High: at(-0.5), P: at(0.03)}, "worse"},
		{"by chance", Row{Pairs: 6, Better: "lower", Difference: at(-1), Low: at(-2), High: at(-0.5), P: at(0.06)}, "not told apart"},
		{"ranks on one side, mean on the other", Row{Pairs: 20, Better: "lower", Difference: at(2), Low: at(-1), High: at(9), P: at(0.01)}, "not told apart"},
	} {
		if got := tc.row.Verdict(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
