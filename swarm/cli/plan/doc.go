// Package plan decides from a command line and the configuration what a run starts: its
// base, its agents and their models, its limits, its sandbox and its questions.
//
// It tells a person what that is, asks before many paid agents start, and prints a
// dry run. It starts no agent.
package plan
