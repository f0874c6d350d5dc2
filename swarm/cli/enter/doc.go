// Package enter has the commands that enter the workspace or the terminal of an agent: shell,
// exec and attach. It also carries out the requests of other processes to a live run.
package enter
