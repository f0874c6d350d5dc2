// Package agentcmd has the commands that agents and their harnesses start: hook checks an action
// of an agent, and mcp runs workflow scripts for another harness.
package agentcmd
