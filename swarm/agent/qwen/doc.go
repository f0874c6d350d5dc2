// Package qwen drives agents of the CLI qwen (Qwen Code), headless. It owns the
// command line, the state of one agent and the reading of what it says. It
// starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The prompt is read from stdin, as far as 8 MiB, where no option brings
//     one. Words for the system prompt are taken by an option alone, so those
//     can be seen in the list of processes.
//   - The settings of a machine win over all others, and a variable says where
//     they are. What must hold is put there, with what the machine has.
//   - No folder is trusted: its settings start what nobody approved, and may have
//     the model asked elsewhere, with the user's key. In such a folder settings
//     and hooks are not read and YOLO mode is refused, but tools that are allowed by name
//     are used, git among them. Hooks that are not the repository's are asked
//     everywhere.
//   - A list of tools to have does not bind all of them: the others are taken away
//     by name, too.
//   - It looks for a conversation by the folder it was had in, which its records
//     name as well. So a fork works where agents find their workspaces at the same
//     path, as behind walls that mount them; elsewhere it ends with exit status 1.
//   - Each block of a message is told as a message of its own, with usage on the
//     last. The result counts what helpers have used, too, and in a fork what the
//     conversation had used before.
//   - A schema must be one of objects, and an answer that is no call of the tool
//     for it is an error.
//   - It asks a provider that fails seven times, with pauses of up to half a
//     minute, and nothing changes that; one that cuts connections is asked for
//     minutes. A text that was cut is gone on with, and both parts are joined.
//   - Its shell refuses to sleep. It ends by TERM with 130 and no result; two
//     processes are one agent, of which the first ignores signals.
package qwen
