// Package opencode drives agents of the CLI opencode, headless. It owns the
// command line, the state of one agent, the plugin that stands between the two,
// and the reading of what is said. It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The prompt is read from stdin where no word of the command line is one.
//   - Where it works is said by an option, else by $PWD.
//   - Its own folders go by the variables that all programs' do. Commands get
//     back what the user has there, from the plugin. The cache is shared: the
//     packages of providers are in it.
//   - In each folder with a configuration it installs a package, over the
//     network, unless one called node_modules and a lock file say that it is there.
//   - What the repository has configured is never read, since reading it starts
//     what it names; its AGENTS.md is, by our own configuration.
//   - No event tells which model answered. What is said of it is what was asked
//     for.
//   - Nothing tells that it is done: a step that stopped, and the end of the
//     output, do. Where it rejects a question by itself it ends with 0 without
//     such a step.
//   - It asks a provider that fails again and again, and says so to plugins only.
//     Ours tells of the first time and ends the process at the second.
//   - A conversation belongs to its folder: a fork in another one would work in the
//     folder of its parent. The plugin keeps it from that.
//   - A plugin that throws keeps a tool from being used, with its words as the
//     outcome of that.
//   - A database that several agents share is locked by one of them, so each has
//     its own.
//   - By TERM it ends at once, and what its shell has started goes on.
package opencode
