// Package host carries out what the script of a run asks for beside agents: checks,
// merges, landings, and the evidence of an agent's work.
package host
