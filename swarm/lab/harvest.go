package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// ranRun is the part of a run's `run --json` and `status --json` that matters.
type ranRun struct {
	Schema string     `json:"schema"`
	Run    string     `json:"run"`
	Error  *ranError  `json:"error"`
	Agents []ranAgent `json:"agents"`
}

type ranError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

type ranAgent struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	Kind    string    `json:"kind"`
	Model   string    `json:"model"`
	Attempt int       `json:"attempt"`
	Status  string    `json:"status"`
	Error   *ranError `json:"error"`
	Output  string    `json:"output"`
	Patch   *struct {
		File string `json:"file"`
	} `json:"patch"`
	Usage *task.Usage `json:"usage"`
}

func readRun(text []byte) (*ranRun, error) {
	r := &ranRun{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read its JSON: %w", err)
	}
	if r.Schema != "swarm.run/1" {
		if r.Error != nil {
			return nil, errors.New(r.Error.Message)
		}
		return nil, fmt.Errorf("read its JSON: schema %q, want swarm.run/1", r.Schema)
	}
	return r, nil
}

// reason is why a run did not go on.
func (r *ranRun) reason() string {
	if r.Error != nil {
		return r.Error.Message
	}
	for _, a := range r.Agents {
		if a.Error != nil {
			return a.Error.Message
		}
	}
	return "it did not say why"
}

// harvestEarlier records the completed agents of runs whose lab was killed, so
// that no ended agent is paid for twice.
func (p *Plan) harvestEarlier(ctx context.Context, j *job, b bay) error {
	text, err := p.ask(ctx, b, "ls", "--json")
	if err != nil {
		return err
	}
	var earlier struct {
		Runs []struct{ Run, Status string }
	}
	if err := json.Unmarshal(text, &earlier); err != nil {
		return fmt.Errorf("read the runs of %s: %w", b.repo, err)
	}
	for _, e := range earlier.Runs {
		text, err := p.ask(ctx, b, "status", e.Run, "--json")
		if err != nil {
			return err
		}
		r, err := readRun(text)
		if err != nil {
			return err
		}
		if _, err := p.harvest(ctx, j, b, r); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a command that only looks.
func (p *Plan) ask(ctx context.Context, b bay, args ...string) ([]byte, error) {
	var out, told bytes.Buffer
	code := p.Swarm(ctx, Typed{Dir: b.repo, State: p.state(), Args: args, Stdout: &out, Stderr: &told})
	if out.Len() == 0 && code != 0 {
		return nil, fmt.Errorf("swarm %s (exit %d): %s", strings.Join(args, " "), code, strings.TrimSpace(told.String()))
	}
	return out.Bytes(), nil
}

// harvest records the agents of a run that completed, takes them off those
// that are missing, and returns why the others did not.
func (p *Plan) harvest(ctx context.Context, j *job, b bay, r *ranRun) ([]Failure, error) {
	var failures []Failure
	for _, a := range r.Agents {
		at := slices.IndexFunc(j.missing, func(c cell) bool { return c.label() == a.Label })
		if at < 0 {
			continue
		}
		if a.Status != "completed" {
			f := Failure{Agent: fmt.Sprintf("%s/%s/%s %s %d", j.Family, j.Mode, j.Name, j.missing[at].arm, j.missing[at].repeat), Kind: a.Status}
			if a.Error != nil {
				f.Kind, f.Message = a.Error.Kind, a.Error.Message
			}
			failures = append(failures, f)
			continue
		}
		t, err := p.record(ctx, j, b, r.Run, a)
		if err != nil {
			return failures, err
		}
		c := j.missing[at]
		t.Arm, t.Repeat = c.arm, c.repeat
		if err := replace(p.transcript(j, c), t.Write); err != nil {
			return failures, err
		}
		j.missing = slices.Delete(j.missing, at, at+1)
	}
	return failures, nil
}

// record assembles the transcript of an agent.
func (p *Plan) record(ctx context.Context, j *job, b bay, run string, a ranAgent) (*Transcript, error) {
	t := &Transcript{Head: Head{
		Family: j.Family, Mode: j.Mode, Task: j.Name, Agent: p.Agent, Model: p.Model,
		Prompt: j.Prompt, Check: j.Check, Phantom: j.Phantom, Answer: a.Output, Usage: a.Usage,
		Roots: []string{b.repo},
	}}
	for _, f := range j.Files {
		t.Paths = append(t.Paths, f.Path)
	}
	trees, err := p.trees(run)
	if err != nil {
		return nil, err
	}
	for _, dir := range trees {
		t.Roots = append(t.Roots, filepath.Join(dir, fmt.Sprintf("%s.%d", a.ID, max(1, a.Attempt))))
	}
	if a.Patch != nil {
		var text []byte
		if a.Patch.File == "" {
			text, err = p.ask(ctx, b, "diff", run+"/"+a.ID)
		} else {
			text, err = os.ReadFile(a.Patch.File)
		}
		if err != nil {
			return nil, err
		}
		t.Patch = string(text)
	}
	text, err := p.ask(ctx, b, "logs", run+"/"+a.ID, "--json")
	if err != nil {
		return nil, err
	}
	if t.Events, err = logged(text); err != nil {
		return nil, err
	}
	for _, e := range t.Events {
		if said, ok := e.(*event.Answered); ok && said.Text != "" {
			t.Answer = said.Text // whole: the text in a run's output may be cut
		}
	}
	return t, nil
}

// trees are the folders that workspaces of a run stand in.
func (p *Plan) trees(run string) ([]string, error) {
	repos, err := os.ReadDir(p.state())
	if err != nil {
		return nil, err
	}
	var all []string
	for _, repo := range repos {
		dir := filepath.Join(p.state(), repo.Name(), "trees", run)
		if _, err := os.Stat(dir); err == nil {
			all = append(all, dir)
		}
	}
	return all, nil
}

// logged reads the lines of `logs --json`.
func logged(text []byte) ([]event.Event, error) {
	var all []event.Event
	lines := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var l struct {
			Type  string
			Event json.RawMessage
		}
		err := lines.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read what the agent wrote: %w", err)
		}
		line, err := json.Marshal(eventLine{N: n, Type: l.Type, Body: l.Event})
		if err != nil {
			return nil, err
		}
		record, err := event.Unmarshal(line)
		if err != nil {
			return nil, err
		}
		all = append(all, record.Event)
	}
}
