// Package session opens a run for a command: its workspaces, its sandbox, the judge of its
// agents' actions, and the landing of its patches. It also recovers a run whose process died.
package session
