// Package view renders runs, agents and merges as text and as the objects of --json.
package view
