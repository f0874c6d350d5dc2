// Package watching is the full-screen view of a run as it goes: its agents in
// groups, their present work, costs, phases, a timeline and landings, and the
// keys that act on agents. It derives rows from the view of a run.
//
// It opens no run, no socket and no terminal: [Source] brings snapshots, [Actions]
// carries out actions, and [agentswarm/swarm/tui] draws.
package watching
