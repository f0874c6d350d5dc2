// Package agent owns what all agents have in common: how one is described,
// the interface an adapter for a kind implements, the environment an agent
// gets, and the one life every attempt goes through: start, read, wait, end.
//
// It does not know any particular agent: those are its subpackages. It does
// not make workspaces, capture or schedule: the engine does.
package agent
