package agent

import "agentswarm/swarm/event"

// Reread makes the outcome of an attempt that ended under an earlier process,
// from the record of its end and its stdout file. It starts nothing.
func Reread(adapter Adapter, spec *Spec, stdout string, out *Outcome) error {
	read := &reader{life: &Life{Adapter: adapter, Spec: spec, Stdout: stdout}, outcome: out}
	read.more(out.Exit.StdoutBytes)
	read.end()
	return read.err
}

// Answered reports whether an agent with an unobserved end had given a good
// answer and had only to exit. It reads a stdout file up to size.
func Answered(adapter Adapter, spec *Spec, stdout string, size int64) bool {
	read := &reader{life: &Life{Adapter: adapter, Spec: spec, Stdout: stdout}, outcome: &Outcome{}}
	read.more(size)
	done := read.done() // before its end, which was none of its own
	read.end()
	return done && read.err == nil && read.outcome.Answer != nil
}

// Scan reads a stdout file up to size and hands every event to observe, as
// [Life.Observe] sees it.
func Scan(adapter Adapter, spec *Spec, stdout string, size int64, observe func(event.Event)) error {
	read := &reader{
		life:    &Life{Adapter: adapter, Spec: spec, Stdout: stdout, Observe: observe},
		outcome: &Outcome{},
	}
	read.more(size)
	read.end()
	return read.err
}
