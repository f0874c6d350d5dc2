// Package tui has the parts that the full-screen views share: a program that
// shows a [Screen], lists with groups and a filter, one-line prompts, tables of
// keys and panes with diffs. A screen is a plain value: keys, sizes and messages
// go in, lines and effects come out. Only [Run] touches a terminal.
//
// The package knows nothing of runs, agents or reviews. All foreign text that it
// draws passes [agentswarm/internal/termtext].
package tui
