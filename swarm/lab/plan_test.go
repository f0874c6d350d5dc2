package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/variants"
)

// request is a request for all arms of a mode in a folder that does not exist
// yet.
func request(t *testing.T) Request {
	t.Helper()
	all, err := variants.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Family: "qwen", Model: "qwen-test", Agent: "mine", Modes: []string{"over-comments"}, Arms: []Arm{Off, On},
		Repeat: 1, Tasks: 1, Jobs: 1, Dir: filepath.Join(t.TempDir(), "lab"), Variants: all,
	}
}

// refusal returns the text of a refusal, or a note about any other error.
func refusal(err error) string {
	if not, ok := errors.AsType[*RefusedError](err); ok {
		return not.Text
	}
	return fmt.Sprintf("no refusal: %v", err)
}

// Arms that could not differ are refused, and nothing is made.
func TestPlanRefusesEqualArms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		change     func(*Request)
	}{
		{"another family", `the model "claude-opus" is of claude, not of qwen`, func(r *Request) { r.Model = "claude-opus" }},
		{"a provider's name", `the model "qwen/m" is of no family that is known, not of qwen`, func(r *Request) { r.Model = "qwen/m" }},
		{"left out", "leaves out qwen/over-comments", func(r *Request) {
			r.Variants = variants.Less(r.Variants, []string{"qwen/over-comments"})
		}},
		{"all left out", "leaves out qwen/skips-verification", func(r *Request) {
			r.Modes, r.Variants = []string{"skips-verification"}, variants.Less(r.Variants, []string{"qwen"})
		}},
		{"one of all", "leaves out qwen/skips-verification", func(r *Request) {
			r.Modes, r.Variants = nil, variants.Less(r.Variants, []string{"qwen/skips-verification"})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			tt.change(&r)
			_, err := NewPlan(r)
			if got := refusal(err); !strings.Contains(got, tt.want) {
				t.Errorf("NewPlan: %s, want %s", got, tt.want)
			}
			if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
		})
	}
	r := request(t)
	r.Variants = variants.Less(r.Variants, []string{"qwen/skips-verification"})
	if _, err := NewPlan(r); err != nil {
		t.Errorf("with another mode left out: %v", err)
	}
}

// The instructions of agents decide which experiment a folder belongs to.
func TestPlanSumsWhatIsTold(t *testing.T) {
	t.Parallel()
	text := func(family variants.Family, mode string) func(*Request) {
		return func(r *Request) {
			r.Variants = variants.Lay([]variants.Variant{{Family: family, Mode: mode, Text: "Hum."}}, r.Variants)
		}
	}
	for _, tt := range []struct {
		name   string
		same   bool
		change func(*Request)
	}{
		{"nothing", true, func(*Request) {}},
		{"another family", true, text(variants.GPT, "filler-openers")},
		{"own words", false, text(variants.Qwen, "over-comments")},
		{"a mode of its own", false, text(variants.Qwen, "too-short")},
		{"one less", false, func(r *Request) { r.Variants = variants.Less(r.Variants, []string{"qwen/skips-verification"}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			p, err := NewPlan(r)
			if err == nil {
				err = errors.Join(p.begin(), p.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.change(&r)
			p, err = NewPlan(r)
			if tt.same {
				if err == nil {
					err = p.Close()
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			if got := refusal(err); !strings.HasSuffix(got, "holds transcripts of other tasks or with other variants") {
				t.Errorf("NewPlan: %s", got)
			}
		})
	}
}

// A folder that holds transcripts of another model, or another agent, is refused.
func TestPlanRefusesOtherFolders(t *testing.T) {
	t.Parallel()
	r := request(t)
	p, err := NewPlan(r)
	if err == nil {
		err = errors.Join(p.begin(), p.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	model, agent := r, r
	model.Model, agent.Agent = "qwen-other", "other"
	for want, other := range map[string]Request{"qwen-test, a model of qwen": model, `the agent "mine"`: agent} {
		_, err := NewPlan(other)
		if got := refusal(err); !strings.HasSuffix(got, " holds transcripts of "+want) {
			t.Errorf("NewPlan: %s, want transcripts of %s", got, want)
		}
	}
}

// A folder belongs to a lab until the lab is closed, even if both were planned
// before the folder existed.
func TestPlanHoldsItsFolder(t *testing.T) {
	t.Parallel()
	r := request(t)
	first, err := NewPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.begin(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s: another lab is running there, process %d", r.Dir, os.Getpid())
	if got := refusal(second.begin()); got != want {
		t.Errorf("begin: %s, want %s", got, want)
	}
	_, err = NewPlan(r)
	if got := refusal(err); got != want {
		t.Errorf("NewPlan: %s, want %s", got, want)
	}
	// A plan that was made before sees the records of the first.
	if err := replace(first.transcript(&first.jobs[0], cell{On, 1}), (&Transcript{}).Write); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.begin(); err != nil || second.Missing() != 1 {
		t.Errorf("after the first: %v, %d are missing, want 1", err, second.Missing())
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	// A plan that is refused because of the folder's content does not keep the
	// folder.
	r.Agent = "other"
	_, err = NewPlan(r)
	if got := refusal(err); !strings.HasSuffix(got, `holds transcripts of the agent "mine"`) {
		t.Errorf("NewPlan: %s", got)
	}
	r.Agent = "mine"
	third, err := NewPlan(r)
	if err == nil {
		err = third.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// The names of folders are no patterns.
func TestPlanTrees(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a[1]", "a*", "a?", `a\b`, "[", "a b"} {
		p := &Plan{Request: Request{Dir: filepath.Join(t.TempDir(), name)}}
		want := filepath.Join(p.state(), "repo", "trees", "r1")
		for _, dir := range []string{want, filepath.Join(p.state(), "repo", "trees", "r2"), filepath.Join(p.state(), "other")} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := p.trees("r1"); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("trees in %s: %q, %v, want %s", name, got, err, want)
		}
	}
}
