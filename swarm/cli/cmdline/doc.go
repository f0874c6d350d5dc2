// Package cmdline has the parts that all commands share: the surroundings of a
// command line, the parsed line, the repository that it works on, and the flags
// about the sandbox and the judge of actions.
package cmdline
