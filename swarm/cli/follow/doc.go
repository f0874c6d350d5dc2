// Package follow has the commands that follow runs and reach their agents: ls, status, watch,
// inbox, answers, send, cancel and wait. It draws the progress of a run, on a terminal in place.
package follow
