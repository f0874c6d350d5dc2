// Package plan decides from a command line and the configuration which parts a
// run has: its base, its agents and their models, its limits, its sandbox and
// its questions.
//
// It shows a person the plan, asks before many paid agents start, and prints a
// dry run. It starts no agent.
package plan
