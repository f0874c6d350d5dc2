// Package engine takes the calls of a run and hands back settled ones.
//
// It owns when an agent starts, what its life is (workspace, setup, agent,
// capture, check, release), what is retried, what a cancel or a stop does,
// and how a run whose owner died is put in order.
// It does not make calls: workflows do. It does not land patches, and it does
// not show anything: faces follow the journal.
//
// One goroutine owns the run's state; everyone else sends it functions. Every
// attempt has a goroutine of its own that journals its facts and reports its
// end.
package engine
