// Package host carries out the requests of a run's script beside agents:
// checks, merges, landings, and the evidence of an agent's work.
package host
