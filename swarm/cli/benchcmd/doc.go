// Package benchcmd has the commands that measure swarm: bench compares it with plain git, and
// bench landing compares the landing queue with other ways to land patches.
package benchcmd
