// Package demo shows the work of swarm, on a monorepo it writes itself. A
// single command starts 100 agents at once, lets some of them go wrong on
// purpose, merges the patches that can be merged, and reports whether all went
// as planned.
//
// It owns the monorepo's templates, the plan of the expected results, the agent
// (a codemod that renames an API of a shared library), the gate at which all
// agents meet, and the check of the plan. It does not own anything of a run. It
// types `swarm run`, `swarm merge` and `swarm status` as a user would, through
// a function that main passes in, and reads their output. No other package
// knows that it exists.
package demo
