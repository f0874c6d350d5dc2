package manifest

import "strings"

// Reviewer is what a reviewer is told of its part.
const Reviewer = "You review the work of another agent and change nothing. You are shown which files changed and what the " +
	"harness ran; do not run or repeat any of it. Read with your tools the changed places that decide whether the work is " +
	"right. Report only problems that have to be mended; style is none. pass is true only if there are no problems."

// MaxTask is how much of a task a reviewer is shown, in bytes.
const MaxTask = 4000

// Prompt asks for a review of the work that somebody did for a task.
func Prompt(task string, m *Manifest) string {
	return "Review a change that another agent made. It lies in your workspace; you change nothing.\n\n" +
		"What it was asked:\n" + clip(strings.TrimSpace(task), MaxTask) + "\n\n" + m.Text()
}
