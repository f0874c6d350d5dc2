// Package workflow owns the run of a script. It carries out the requests of the
// script through the engine and its [Tools], and records the values that
// entered the script. On a resume they enter again, in the same order.
//
// It runs no JavaScript, which swarm/script does. It does not know how a
// repository is read or a branch is moved, which its tools do.
package workflow
