// Package gemini drives agents of the CLI gemini (Gemini CLI), headless. It owns
// the command line, the state of one agent and the reading of what it says. It
// starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - The prompt is read from stdin, as far as 8 MiB, where no option brings
//     one. A word that begins with @ and is a path stands for that file.
//   - The settings of a machine win over all others, but the CLI takes them only
//     from files that root alone can write to. So what is composed here are the
//     user's, and where a folder is trusted those of the repository win.
//   - No folder is trusted: its settings start what nobody approved. So GEMINI.md
//     there is not read. Where trust in folders is not switched off as such, it refuses to work headless
//     in one that is not trusted.
//   - In a folder that is not trusted hooks of settings are not asked, whosever
//     they are, and hooks of extensions are; YOLO mode is refused, and git too,
//     unless a rule with a pattern allows commands.
//   - A tool that a policy denies is not offered. One that nothing allows, and
//     nobody can be asked about, is denied.
//   - Conversations are filed by folder, under a name that projects.json gives
//     it. It is given one name for all, so that another agent finds them in
//     another folder. A conversation that is gone on with keeps its id.
//   - What was used is told at the end only, for this process alone. The file of the
//     conversation tells it of each message before its tools begin.
//   - An error of the provider ends it with the status of HTTP, less what does not
//     fit into an exit status; a signal ends it with 0 and no result; a circle
//     that it finds itself in is called a success.
//   - Where GOOGLE_GEMINI_BASE_URL is set, a key in the environment does not tell
//     it how to log in: the settings must.
package gemini
