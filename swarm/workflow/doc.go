// Package workflow owns the run of a script: it carries out what the script
// asks for through the engine and its [Tools], remembers what entered the
// script, and on a resume lets that enter again, in the same order.
//
// It runs no JavaScript, which swarm/script does, and does not know how a
// repository is read or a branch is moved, which its tools do.
package workflow
