// Package workflowcmd has the commands of workflow scripts: ls, validate, types, test, save and
// diff.
package workflowcmd
