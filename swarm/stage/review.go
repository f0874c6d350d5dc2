package stage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most is the limit of tokens for a reviewer of up to three files, by [Tokens]:
// its words, the form of its verdict and the request. The instructions for all
// agents do not count.
const Most = 1500

const (
	// asked counts the tokens beside the task, the plan and the change: the
	// words of the stage, the request for a verdict and the place of the whole
	// text.
	asked = 370
	// least is how much is left for task and plan where a change has more files.
	least = 300
)

// Review is the request for a review.
type Review struct {
	Task string `json:"task"`
	Plan string `json:"plan,omitempty"` // that the work followed; empty: none
	// Own are the instructions for the reviewer alone.
	Own []string `json:"own,omitempty"`
	// Change is the change, and the result of checks.
	Change string `json:"change"`
	// Paths are all files that changed, as they are called.
	Paths []string `json:"paths,omitempty"`
}

// Ask is the prompt of a reviewer. Where something was left out to keep it
// short, whole holds it all; else it is empty.
func (r Review) Ask() (prompt, whole string) {
	left := max(Most-asked-Tokens(r.Change), least)
	own := lines(r.Own)
	shownOwn := Head(own, left/4)
	left -= Tokens(shownOwn)
	task, plan := strings.TrimSpace(r.Task), strings.TrimSpace(r.Plan)
	shownTask := Head(task, left-min(Tokens(plan), left/3))
	shownPlan := Head(plan, left-Tokens(shownTask))
	prompt = compose(shownTask, shownPlan, r.Change, shownOwn)
	if shownTask == task && shownPlan == plan && shownOwn == own && r.shows() {
		return prompt, ""
	}
	all := make([]string, len(r.Paths))
	for i, path := range r.Paths {
		all[i] = Line(path)
	}
	return prompt, compose(task, plan, "Changed files:\n"+lines(all)+"\n", own)
}

// shows reports whether every path is in the change as it is called.
func (r Review) shows() bool {
	for _, path := range r.Paths {
		if !strings.Contains(r.Change, Line(path)) {
			return false
		}
	}
	return true
}

func compose(task, plan, change, own string) string {
	var b strings.Builder
	b.WriteString("Review a change that another agent made. It lies in your workspace; you change nothing.\n\nThe task:\n" + task)
	if plan != "" {
		b.WriteString("\n\nThe plan it followed:\n" + plan)
	}
	b.WriteString("\n\n" + strings.TrimSpace(change))
	if own != "" {
		b.WriteString("\n\nFor you alone:\n" + own)
	}
	return b.String()
}

// Line is a path as it stands on a line of its own, quoted where it would be
// more than that.
func Line(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return strconv.Quote(path)
	}
	return path
}

func lines(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "- " + strings.Join(all, "\n- ")
}

// Whole returns the sentence that tells a reviewer where the omitted text is.
func Whole(file string) string {
	return fmt.Sprintf("\n\nWhere it says %s, something was left out: all of the task, the plan and the names of the files is in %s, "+
		"in your workspace. That file is no part of the change.", cutMark, file)
}
