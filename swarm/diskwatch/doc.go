// Package diskwatch watches the free space of file systems while agents work,
// and owns the rules about it: below which threshold no further agent starts,
// which agent is stopped, and how much is reserved for captures.
//
// It measures and decides. How agents are held back and stopped is the
// business of the [Agents] that it is given.
package diskwatch
