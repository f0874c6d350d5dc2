package session

import (
	"fmt"
	"io"
	"sync"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
)

// picture is drawn on the terminal; Say prints a line above it.
type picture interface{ Say(line string) }

// Notices prints the warnings of a run on standard error. They stand above the
// picture of the run, once one is drawn there.
type Notices struct {
	w io.Writer

	mu      sync.Mutex // guards picture
	picture picture    // nil: nothing is drawn yet
}

// Above prints later notices above a picture.
func (n *Notices) Above(p picture) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.picture = p
}

func (n *Notices) print(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	line := cmdline.Program + ": " + termtext.Line(text)
	if n.picture != nil {
		n.picture.Say(line)
		return
	}
	fmt.Fprintln(n.w, line)
}
