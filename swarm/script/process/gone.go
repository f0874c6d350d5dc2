package process

import (
	"context"

	"agentswarm/swarm/script"
)

// watched is a host that does not wait on behalf of a script whose process is
// gone: agents may take hours, and a person may never answer.
type watched struct {
	script.Host
	gone <-chan struct{} // required; closed once the process is
}

// errGone is the cause after the process of a script is gone. The script cannot
// hear it.
func errGone() error {
	return &script.Error{Name: "Error", Code: script.CodeRunaway, Message: "the process of the script is gone"}
}

// Next is that of the host, as long as there is somebody to tell.
func (w *watched) Next(ctx context.Context) (script.Delivery, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	defer func() { cancel(nil); <-done }()
	go func() {
		defer close(done)
		select {
		case <-w.gone:
			cancel(errGone())
		case <-ctx.Done():
		}
	}()
	return w.Host.Next(ctx)
}
