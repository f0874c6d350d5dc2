package risk

import "strings"

// Contract returns the rules of judgement that an agent reads in its prompt. It
// is short, and equal for all agents of a run that work in the same way. An
// agent that follows it seldom has an action refused.
//
// It asks for silence on purpose. An agent that must name the risk of its
// actions writes about it before each step, which costs tokens and has no
// reader.
func (a *Authority) Contract(shared bool) string {
	var b strings.Builder
	b.WriteString(`Judge each action in silence before you take it. Never write about risk unless you ask.
- An action that only you see and can take back: do it, and say nothing.
- What other people see (push, pull requests, issues, messages, requests that change something elsewhere): only if you were told to, or it is listed below.
- What is hard to take back (forced pushes, changing published commits, older versions of dependencies, CI, publishing): only if it is listed below.
- What destroys (recursive removal, discarding changes, dropping data, ending processes): never without being asked to; prefer a way that can be undone.
Where you are refused you hear why, and often what to do instead. Do not try the same in another way.
`)
	granted := a.Granted()
	if len(granted) > 0 {
		b.WriteString("Allowed here without asking:\n")
		for _, item := range granted {
			b.WriteString("- " + item + "\n")
		}
	}
	for _, g := range a.items(true) {
		if g.Never {
			b.WriteString("Always asks here: " + g.Text + "\n")
		}
	}
	if shared {
		b.WriteString("Other work trees share this repository's refs, stash and configuration: they are refused to you. " +
			"Commit to your own HEAD; that is collected.\n")
	}
	return b.String()
}
