// Package agent owns the common parts of all agents: their description, the
// adapter interface of a kind, and the environment of an agent. It also owns
// the life of an attempt: start, read, wait, end.
//
// It does not know any particular agent: those are its subpackages. It does not
// make workspaces, capture or schedule: the engine does.
package agent
