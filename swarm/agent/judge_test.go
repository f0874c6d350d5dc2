package agent

import (
	"encoding/json"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	exit := func(code int) proc.Exit { return proc.Exit{Reason: proc.Exited, Code: code} }
	said := &event.Answered{Text: "done"}
	for _, test := range []struct {
		name    string
		success Success
		give    Outcome
		changed bool
		kind    task.ErrorKind // empty is a success
		reason  string
	}{
		{"exit 0", SuccessExit, Outcome{Exit: exit(0)}, false, "", ""},
		{"exit 3", SuccessExit, Outcome{Exit: exit(3), Answer: said}, true, task.Other, "exit status 3"},
		{"signal", SuccessExit, Outcome{Exit: proc.Exit{Reason: proc.Exited, Code: 137, Signal: "SIGKILL"}}, true, task.Killed, "ended by SIGKILL"},
		{"zero exit", SuccessExit, Outcome{}, true, task.Lost, "its supervisor was killed"},
		{"lost", SuccessAnswer, Outcome{Exit: proc.Exit{Text: "gone"}, Answer: said}, true, task.Lost, "gone"},
		{"never ran", SuccessExit, Outcome{Exit: proc.Exit{Reason: proc.StartFailed}}, false, task.StartFailed, "did not start"},
		{"too much", SuccessExit, Outcome{Exit: proc.Exit{Reason: proc.OutputLimit, Code: 137, Signal: "SIGKILL"}}, false, task.OutputExceeded, "wrote too much"},
		{"full disk", SuccessExit, Outcome{Exit: proc.Exit{Reason: proc.Disk}}, false, "", ""},
		{"timeout", SuccessAnswer, Outcome{Exit: exit(0), Answer: said, Limit: task.Timeout}, true, task.Timeout, "ran longer than 1m0s"},
		{"idle", SuccessExit, Outcome{Exit: exit(143), Limit: task.IdleTimeout}, true, task.IdleTimeout, "wrote nothing for 1s"},
		{"answer", SuccessAnswer, Outcome{Exit: exit(0), Answer: said}, false, "", ""},
		{"answer, exit 1", SuccessAnswer, Outcome{Exit: exit(1), Answer: said}, true, task.Other, "exit status 1"},
		{"no answer", SuccessAnswer, Outcome{Exit: exit(0)}, true, task.NoResult, "exit status 0, but no result"},
		{"empty answer", SuccessAnswer, Outcome{Exit: exit(0), Answer: &event.Answered{}}, false, task.NoResult, "an empty result and no change"},
		{"empty answer, change", SuccessAnswer, Outcome{Exit: exit(0), Answer: &event.Answered{}}, true, "", ""},
		{"structured", SuccessAnswer, Outcome{Exit: exit(0), Answer: &event.Answered{Structured: json.RawMessage(`{}`)}}, false, "", ""},
		{"error, exit 0", SuccessAnswer, Outcome{Exit: exit(0), Error: &event.Erred{Kind: task.RateLimit, Message: "slow"}}, true, task.RateLimit, "slow"},
		{"error without words", SuccessExit, Outcome{Exit: exit(0), Error: &event.Erred{Kind: task.Other}}, true, task.Other, "the agent reported an error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			spec := &Spec{Success: test.success, Timeout: time.Minute, IdleTimeout: time.Second}
			ok, kind, reason := test.give.Judge(spec, test.changed)
			if ok != (test.kind == "") || kind != test.kind || reason != test.reason {
				t.Errorf("Judge = %t, %q, %q, want %q, %q", ok, kind, reason, test.kind, test.reason)
			}
		})
	}
}
