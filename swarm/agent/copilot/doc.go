// Package copilot drives agents of the CLI copilot (GitHub Copilot CLI),
// headless. It owns the command line, the state of one agent and the reading of
// its output. It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names
// and with a model provider of the user's own:
//
//   - The prompt is read from stdin where no option brings it.
//   - COPILOT_HOME holds settings, conversations and the login. Hooks of its
//     settings.json are asked before each tool, with --allow-all-tools too. A hook
//     that fails denies the action.
//   - Settings and hooks of a repository count only in a folder that is trusted.
//     No workspace is.
//   - The words of an agent file are part of the system prompt. Instructions of a
//     repository are off, so that swarm says them once.
//   - A conversation is a folder below session-state. A copy of its files can be
//     continued in another state folder and in another workspace; it keeps its id.
//   - The JSON stream has no tokens. A span of OpenTelemetry for each request has
//     them and the id of the conversation. The exporter for files appends, and
//     its file is the stdout of the CLI. No network is involved.
//   - A request that fails is made again: five times after 429, 5xx and a broken
//     connection, twice after 401. No setting changes that. The stream has an
//     event for each, without the time of the next.
//   - The text of an error hides no status. After a signal the exit status is 0,
//     and an event says that the work was aborted.
//   - Each value of a key variable is replaced by asterisks wherever it occurs in
//     the output.
package copilot
