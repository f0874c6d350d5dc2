// Package engine takes the calls of a run and hands back settled ones.
//
// It owns the start of an agent, its steps (workspace, setup, agent, capture,
// check, release), its retries, the effects of a cancel or a stop, and the
// recovery of a run whose owner died. It does not make calls: workflows do. It
// does not land patches, and it does not show anything: faces follow the
// journal.
//
// One goroutine owns the run's state; everyone else sends it functions. Every
// attempt has a goroutine of its own that journals its facts and reports its
// end.
package engine
