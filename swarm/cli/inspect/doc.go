// Package inspect has the commands that read and judge the work of agents: diff, show, logs,
// usage, review, verdicts, remarks, reports and pull requests.
package inspect
