// Package gemini drives agents of the CLI gemini (Gemini CLI), headless. It
// owns the command line, the state of one agent and the parsing of its output.
// It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The CLI reads the prompt from stdin, up to 8 MiB, where no option
//     contains it. A word that begins with @ and is a path stands for that
//     file.
//   - The settings of a machine win over all others, but the CLI takes them
//     only from files that root alone can write to. So the adapter composes
//     user settings, and where a folder is trusted those of the repository win.
//   - No folder is trusted: its settings start commands without approval. So
//     GEMINI.md there is not read. Where trust in folders is not switched off
//     as such, it refuses to work headless in a folder that is not trusted.
//   - In a folder that is not trusted it runs no hooks of settings, not even
//     the user's, but runs hooks of extensions. It refuses YOLO mode, and git
//     too, unless a rule with a pattern allows commands.
//   - A tool that a policy denies is not offered. A tool that no rule allows is
//     denied where no person can be asked.
//   - Conversations are filed by folder, under a name from projects.json. The
//     adapter gives all folders the same name, so that another agent finds them
//     in another folder. A continued conversation keeps its id.
//   - Usage is reported at the end only, for this process alone. The file of
//     the conversation has the usage of each message before its tools begin.
//   - An error of the provider ends it with the HTTP status, less the part that
//     does not fit into an exit status. A signal ends it with 0 and no result.
//     A loop that it detects in its own work is reported as a success.
//   - Where GOOGLE_GEMINI_BASE_URL is set, a key in the environment does not
//     select the way to log in: the settings must.
package gemini
