package agenttest

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/swarm/fleet"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// Stage is a stage as a script starts it.
type Stage struct {
	*task.Stage
	Prompt string
}

// staged is a run in stages: the reviewer sends the work back once.
const staged = `[[case]]
name = "stages"
repo.files = { "f.go" = "one\n" }
[[case.agent]]
label = "planner"
reply = "1. Change f.go. 2. Run go test."
[[case.agent]]
label = "implementer"
files = { "f.go" = "two\n", "g.go" = "new\n" }
reply = "f.go is changed."
[[case.agent]]
label = "reviewer"
structured_json = '{"pass": false, "problems": [{"path": "f.go", "problem": "two is wrong"}]}'
[[case.agent]]
label = "implementer 2"
files = { "f.go" = "three\n" }
reply = "f.go is right."
[[case.agent]]
label = "reviewer 2"
structured_json = '{"pass": true, "problems": []}'
[case.expect]
max_agents = 5
`

// Stages returns the calls that std.stages really starts, by the labels of its
// agents. In this run the reviewer sends the work back once. It returns an
// error if the script fails.
func Stages(ctx context.Context) (map[string]Stage, error) {
	suite, err := fleet.Read("stages.test.toml", []byte(staged))
	if err != nil {
		return nil, err
	}
	host := fleet.NewHost(suite.Cases[0], fleet.Options{})
	out, err := fleet.Direct(ctx, script.Start{Source: script.Source{
		Name: "stages.js", Text: "return std.stages('make f.go say three\\nreviewer: look at g.go\\nplanner: be short\\nimplementer: no new files')",
	}}, host)
	if err = errors.Join(err, host.Err()); err != nil {
		return nil, err
	}
	if out.Error != nil {
		return nil, errors.New(out.Error.Message)
	}
	all := map[string]Stage{}
	for _, call := range host.Calls() {
		if call.Stage == nil {
			return nil, fmt.Errorf("%s has no stage", call.Label)
		}
		all[call.Label] = Stage{Stage: call.Stage, Prompt: call.Prompt}
	}
	return all, nil
}
