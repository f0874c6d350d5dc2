package lab

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/variants"
	"agentswarm/variants/tasks"
)

// Request describes the comparison.
type Request struct {
	Family string   // required
	Model  string   // required, of that family
	Agent  string   // required: a name that `run --agent` knows
	Modes  []string // of the family; empty: all
	Arms   []Arm    // required
	Repeat int      // required: how often each task is done in each arm
	Tasks  int      // only so many of each mode; 0: all
	Dir    string   // required: holds all that is made
	Jobs   int      // required: agents at once

	// Variants are those that agents of a run may be told here.
	Variants []variants.Variant
	Environ  []string
	// Swarm runs a command in this process as if the user had typed it in dir,
	// with the state of the lab's runs in that folder.
	Swarm func(ctx context.Context, c Typed) int
	// Say tells a person how it goes.
	Say func(text string)
}

// Typed is a command for [Request.Swarm].
type Typed struct {
	Dir, State     string
	Args           []string
	Stdout, Stderr io.Writer
}

// Plan is which agents there are to be, and which of them there were.
type Plan struct {
	Request
	jobs []job
	lock *os.File // nil: not taken yet
}

// job is a task in all arms.
type job struct {
	tasks.Task
	missing []cell // that no transcript is there of
}

// cell is a single agent.
type cell struct {
	arm    Arm
	repeat int
}

// label returns the name of the agent. The agent can read it, so it does not
// tell the arm.
func (c cell) label() string {
	n := 2*c.repeat - 1
	if c.arm == On {
		n++
	}
	return fmt.Sprintf("w%d", n)
}

// RefusedError says why a lab cannot be as it was asked for.
type RefusedError struct{ Text, Advice string }

func (e *RefusedError) Error() string { return e.Text }

// Hint returns the right form; it may be empty.
func (e *RefusedError) Hint() string { return e.Advice }

// NewPlan finds the tasks, and reads earlier records. It creates nothing. The
// folder of an earlier lab belongs to the plan until the plan is closed.
// NewPlan returns a [*RefusedError] for a request that it refuses.
func NewPlan(r Request) (_ *Plan, err error) {
	modes, err := modesOf(r.Family, r.Modes)
	if err != nil {
		return nil, err
	}
	if err := r.differ(modes); err != nil {
		return nil, err
	}
	p := &Plan{Request: r}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if _, err := os.Stat(p.lockFile()); err == nil {
		if err := p.hold(); err != nil {
			return nil, err
		}
	}
	if err := p.same(); err != nil {
		return nil, err
	}
	for _, mode := range modes {
		all, err := tasks.Of(r.Family, mode)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, &RefusedError{Text: fmt.Sprintf("there are no tasks for %s/%s", r.Family, mode)}
		}
		if r.Tasks > 0 {
			all = all[:min(r.Tasks, len(all))]
		}
		for _, t := range all {
			p.jobs = append(p.jobs, job{Task: t})
		}
	}
	return p, p.look()
}

// modesOf are the failure modes that are to be looked at, of those that the
// family has.
func modesOf(family string, wanted []string) ([]string, error) {
	all, err := variants.Embedded()
	if err != nil {
		return nil, err
	}
	var families, modes []string
	for _, v := range all {
		if !slices.Contains(families, string(v.Family)) {
			families = append(families, string(v.Family))
		}
		if string(v.Family) == family {
			modes = append(modes, v.Mode)
		}
	}
	if len(modes) == 0 {
		return nil, &RefusedError{
			Text: fmt.Sprintf("there are no tasks for the family %q", family), Advice: "there are some for " + strings.Join(families, ", "),
		}
	}
	for _, mode := range wanted {
		if !slices.Contains(modes, mode) {
			return nil, &RefusedError{
				Text: fmt.Sprintf("%s has no failure mode %q", family, mode), Advice: "it has " + strings.Join(modes, ", "),
			}
		}
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	return modes, nil
}

// differ returns an error for a request that would leave both arms without a
// variant, because they would be the same.
func (r *Request) differ(modes []string) error {
	if family := variants.Of(r.Model); string(family) != r.Family {
		return &RefusedError{
			Text: fmt.Sprintf("the model %q is of %s, not of %s", r.Model, cmp.Or(string(family), "no family that is known"), r.Family),
			Advice: "agents are told the variants of their model's family, which is taken from what comes after the last slash of " +
				"its name; swarm variants MODEL says which",
		}
	}
	for _, mode := range modes {
		if !slices.ContainsFunc(r.Variants, func(v variants.Variant) bool { return string(v.Family) == r.Family && v.Mode == mode }) {
			return &RefusedError{
				Text:   fmt.Sprintf("[variants] off of your configuration leaves out %s/%s: agents would be told it in no arm", r.Family, mode),
				Advice: "take it from that list, or name other failure modes with --mode",
			}
		}
	}
	return nil
}

// look finds out which transcripts are missing.
func (p *Plan) look() error {
	for i := range p.jobs {
		j := &p.jobs[i]
		j.missing = nil
		for repeat := range p.Repeat {
			for _, arm := range p.Arms {
				c := cell{arm, repeat + 1}
				_, err := os.Stat(p.transcript(j, c))
				switch {
				case errors.Is(err, fs.ErrNotExist):
					j.missing = append(j.missing, c)
				case err != nil:
					return err
				}
			}
		}
	}
	return nil
}

// All is how many agents the plan has.
func (p *Plan) All() int { return len(p.jobs) * len(p.Arms) * p.Repeat }

// Missing is how many of them are still to be run.
func (p *Plan) Missing() int {
	n := 0
	for _, j := range p.jobs {
		n += len(j.missing)
	}
	return n
}

// transcripts is the folder of the transcripts, below that of a lab.
const transcripts = "transcripts"

// Transcripts returns the folder of the transcripts.
func (p *Plan) Transcripts() string { return filepath.Join(p.Dir, transcripts) }

// Recorded returns the folder to load for a folder that a person names. For the
// folder of a lab it is that of the transcripts in it. Beside them lie the
// journals and sessions of agents, which are no transcripts.
func Recorded(dir string) string {
	within := filepath.Join(dir, transcripts)
	if stat, err := os.Stat(within); err == nil && stat.IsDir() {
		return within
	}
	return dir
}

func (p *Plan) transcript(j *job, c cell) string {
	head := Head{Family: j.Family, Mode: j.Mode, Task: j.Name, Arm: c.arm, Repeat: c.repeat}
	return filepath.Join(p.Transcripts(), filepath.FromSlash(head.file()))
}

// about is the file lab.json: the content of a folder, so that nothing else is
// mixed into it.
type about struct {
	Family string `json:"family"`
	Model  string `json:"model"`
	Agent  string `json:"agent,omitempty"`
	// Texts is a hash of the variants that agents are told, of every source,
	// and of the tasks: with other texts it is another experiment.
	Texts string `json:"texts"`
}

func (p *Plan) about() (about, error) {
	a := about{Family: p.Family, Model: p.Model, Agent: p.Agent}
	sum := sha256.New()
	for _, v := range variants.Treat(variants.Family(p.Family), p.Variants) {
		fmt.Fprintf(sum, "%s\x00%s\x00", v.Mode, v.Text)
		jobs, err := tasks.Of(p.Family, v.Mode)
		if err != nil {
			return a, err
		}
		for _, t := range jobs {
			fmt.Fprintf(sum, "%q\x00", t)
		}
	}
	a.Texts = hex.EncodeToString(sum.Sum(nil)[:8])
	return a, nil
}

// same refuses a folder in which something else is recorded.
func (p *Plan) same() error {
	text, err := os.ReadFile(filepath.Join(p.Dir, "lab.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var there about
	if err == nil {
		err = json.Unmarshal(text, &there)
	}
	if err != nil {
		return fmt.Errorf("read what %s is of: %w", p.Dir, err)
	}
	mine, err := p.about()
	if err != nil {
		return err
	}
	what := ""
	switch {
	case there.Family != mine.Family || there.Model != mine.Model:
		what = fmt.Sprintf("%s, a model of %s", there.Model, there.Family)
	case there.Agent != mine.Agent:
		what = fmt.Sprintf("the agent %q", there.Agent)
	case there.Texts != mine.Texts:
		what = "other tasks or with other variants"
	default:
		return nil
	}
	return &RefusedError{Text: fmt.Sprintf("%s holds transcripts of %s", p.Dir, what), Advice: "give another folder with --out"}
}

// begin makes the folder and records its content in it.
func (p *Plan) begin() error {
	a, err := p.about()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	if p.lock == nil {
		if err := p.hold(); err != nil {
			return err
		}
		// Another lab may have begun since we looked, and ended.
		if err := p.same(); err != nil {
			return err
		}
		if err := p.look(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return replace(filepath.Join(p.Dir, "lab.json"), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// replace writes a file that is there whole or not at all.
func replace(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(file.Name()))
	}
	return nil
}
