// Package process runs workflow scripts in processes of their own: a script may be anything,
// and so may its effect on the process that reads it.
package process

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/script"
)

// Word is the first argument of a process that runs a script. [script.Serve] is its body.
const Word = "__script"

// maxMemory is how much such a process may hold, in bytes, before it is killed from outside.
// It ends itself before that.
const maxMemory = 768 << 20

// Start starts a process that runs scripts. self is the path of the running binary.
func Start(self string) (*proc.Helper, error) {
	return proc.StartHelper(proc.HelperRequest{
		Binary: self, Args: []string{Word}, Memory: maxMemory,
	})
}

// Runner returns a function that runs scripts, each in a process of its own. The end of the
// process without a result is the outcome of the script.
func Runner(self string) func(context.Context, script.Start, script.Host) (script.Outcome, error) {
	return func(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
		h, err := Start(self)
		if err != nil {
			return script.Outcome{}, err
		}
		outcome, err := script.RunRemote(ctx, h, start, &watched{host, h.Gone()})
		if runaway, ok := errors.AsType[*script.Error](err); ok {
			// The process did not come to an end, and so the script did.
			outcome, err = script.Outcome{Error: runaway}, nil
		}
		closed := h.Close()
		if h.OutOfMemory() && ctx.Err() == nil && outcome.Value == nil {
			return script.Outcome{Error: &script.Error{Name: "Error", Code: script.CodeRunaway, Message: fmt.Sprintf(
				"the script held more than %s of memory", termtext.Bytes(maxMemory))}}, nil
		}
		return outcome, errors.Join(err, closed)
	}
}
