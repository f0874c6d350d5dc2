// Package landcmd has the commands that put the work of agents on branches: merge, apply, undo,
// and the resolution of conflicts by hand.
package landcmd
