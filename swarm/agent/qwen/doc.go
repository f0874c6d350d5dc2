// Package qwen drives agents of the CLI qwen (Qwen Code), headless. It owns the
// command line, the state of one agent and the parsing of its output. It
// starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The CLI reads the prompt from stdin, up to 8 MiB, where no option
//     contains it. Only an option adds to the system prompt, so that text shows
//     in the list of processes.
//   - The settings of a machine win over all others, and a variable names their
//     file. The adapter puts the mandatory settings there, merged with the
//     machine's own.
//   - No folder is trusted: its settings start commands without approval, and
//     may send requests to another server, with the user's key. In such a
//     folder the CLI reads no settings and hooks and refuses YOLO mode. It
//     still uses tools that are allowed by name, git among them. Hooks from
//     outside the repository run everywhere.
//   - A list of allowed tools does not bind all of them, so the others are
//     excluded by name, too.
//   - The CLI finds a conversation by its folder, which its records name as
//     well. So a fork works where agents find their workspaces at the same
//     path, as in a sandbox that mounts them; elsewhere it ends with exit
//     status 1.
//   - Each block of a message is a message of its own, with usage on the last.
//     The result includes the usage of helpers, and in a fork the earlier usage
//     of the conversation.
//   - A schema must describe objects, and an answer that is no call of the tool
//     for it is an error.
//   - It retries a failing provider seven times, with pauses of up to half a
//     minute, and no setting changes that. It retries a server that cuts
//     connections for minutes. It continues a cut text, and joins both parts.
//   - Its shell refuses to sleep. TERM ends it with 130 and no result. Two
//     processes are one agent, of which the first ignores signals.
package qwen
