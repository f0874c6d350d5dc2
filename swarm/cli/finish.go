package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// finishRequest is what follows when the agents of a run have ended.
type finishRequest struct {
	json  bool
	merge bool
	into  string
}

// finish merges if that was asked for, gives the run up and tells how it
// went.
func (b *bench) finish(ctx context.Context, end *ended, r finishRequest) error {
	codes := end.codes
	var merged *mergeReport
	var mergeErr error
	if r.merge && end.status != store.RunStopped {
		merged, mergeErr = b.merge(ctx, mergeRequest{into: r.into})
	}
	if err := b.owner.Close(); err != nil {
		return err
	}
	v, err := b.run.View()
	if err != nil {
		return err
	}
	if err := b.printSummary(v); err != nil {
		return err
	}
	if merged != nil {
		b.printMerge(b.env.Stderr, merged)
		codes = append(codes, merged.codes...)
	}
	var nothing *NothingError
	if mergeErr != nil && !errors.As(mergeErr, &nothing) {
		complain(b.env, mergeErr)
		codes = append(codes, codeOf(mergeErr))
	}
	if err := b.printResult(v, r.json); err != nil {
		return err
	}
	if code := First(codes...); code != CodeOK {
		return &ExitError{Code: code}
	}
	return nil
}

// printResult prints what the run gave: the answer of a single agent, else
// the id of the run.
func (p *place) printResult(v *store.View, asJSON bool) error {
	if asJSON {
		return printJSON(p.env.Stdout, newRunObject(v, time.Now()))
	}
	if len(v.Agents) != 1 {
		_, err := fmt.Fprintln(p.env.Stdout, v.Identity.Run)
		return err
	}
	done, ok := v.Agents[0].Status.(*task.Completed)
	if !ok || done.Answer == "" {
		return nil
	}
	answer := done.Answer
	if detect(p.env.Stdout, p.env.Getenv).TTY {
		answer = PrintableText(answer)
	}
	if answer[len(answer)-1] != '\n' {
		answer += "\n"
	}
	_, err := fmt.Fprint(p.env.Stdout, answer)
	return err
}
