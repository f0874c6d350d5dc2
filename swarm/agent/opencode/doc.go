// Package opencode drives agents of the CLI opencode, headless. It owns the
// command line, the state of one agent, the plugin that connects the two, and
// the parsing of the output. It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The CLI reads the prompt from stdin where the command line contains none.
//   - An option names its working folder, else $PWD does.
//   - Its own folders follow the variables that all programs use. The plugin
//     restores the user's variables for commands. The cache is shared: the
//     packages of providers are in it.
//   - In each folder with a configuration it installs a package, over the
//     network, unless a folder called node_modules and a lock file show that it
//     is there.
//   - It never reads the repository's configuration, since reading it starts
//     the commands it names. It reads AGENTS.md, by our own configuration.
//   - No event names the model that answered. The reported model is the
//     requested model.
//   - No event reports the end: a stopped step and the end of the output do.
//     Where it rejects a question by itself it ends with 0 without such a step.
//   - It retries a failing provider without end, and reports that to plugins
//     only. Our plugin reports the first time and ends the process at the
//     second.
//   - A conversation belongs to its folder: a fork in another folder would work
//     in the folder of its parent. The plugin prevents that.
//   - A plugin that throws prevents the use of a tool. Its error text becomes
//     the outcome of the tool.
//   - A database that several agents share is locked by a single agent, so each
//     has its own.
//   - At TERM it ends at once, and the processes of its shell continue.
package opencode
