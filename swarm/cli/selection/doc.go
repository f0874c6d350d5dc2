// Package selection resolves the addresses and selector flags of a command to a run and its
// agents.
package selection
