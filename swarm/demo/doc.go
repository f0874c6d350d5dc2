// Package demo shows what swarm does, on a monorepo it writes itself: one
// command that starts 100 agents at once, lets some of them go wrong on
// purpose, merges what can be merged, and says whether all went as planned.
//
// It owns the monorepo's templates, the plan of what must happen, the agent
// (a codemod that renames an API of a shared library), the gate at which all
// agents meet, and the check of the plan.
// It does not own anything of a run: it types `swarm run`, `swarm merge` and
// `swarm status` as a user would, through a function that main hands in, and
// reads what those print. No other package knows that it exists.
package demo
