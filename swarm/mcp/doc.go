// Package mcp serves workflow scripts to other agent harnesses over the Model
// Context Protocol: it owns the tools, their schemas and texts, and how long a
// call waits.
//
// The package runs no script itself; its [Dispatcher] does. The model that calls
// a tool sees the value of the script, and no text of its agents.
package mcp
