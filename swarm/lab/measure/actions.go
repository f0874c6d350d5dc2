package measure

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentswarm/swarm/event"
)

// act is the effect of a use of a tool.
type act int

const (
	looks    act = iota // reads, plans, or is not known
	commands            // runs text of a shell
	edits               // changes a file that is to be there
	creates             // writes a file, whether it is there or not
)

// action is a use of a tool.
type action struct {
	act    act
	text   string   // of a command
	paths  []string // that it edits, and creates after them
	fresh  []string
	ended  bool // its end was told
	ok     bool
	output string
}

// ran reports whether the tool was carried out: a refused tool was not.
func (a *action) ran() bool {
	return a.ended && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.output)), "refused")
}

// changes tells whether files of the work are other ones after an action.
func (w *Work) changes(a *action) bool {
	switch a.act {
	case edits, creates:
		all := slices.Concat(a.paths, a.fresh)
		return len(all) == 0 || slices.ContainsFunc(all, w.ours)
	case commands:
		return len(a.paths)+len(a.fresh) > 0 || w.rewrites(a.text)
	default:
		return false
	}
}

// good tells whether a check that it ran went well. Where the exit status is
// not that of the check, as behind a pipe, its output tells.
func (a *action) good() bool {
	return a.ok && !(strings.ContainsAny(a.text, "|;") && reportsFailure(a.output))
}

// reportsFailure tells whether an output is that of a check that went wrong.
func reportsFailure(output string) bool {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(plainText(line))
		if strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "not ok ") ||
			strings.HasPrefix(line, "npm ERR!") || strings.HasPrefix(line, "Traceback ") || failures().MatchString(line) {
			return true
		}
	}
	return false
}

// failures matches the counts of failures in the output of checks.
var failures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b[1-9]\d* (failed|failing|failures?|errors?)\b|\b(failures|errors)=[1-9]|test result: FAILED`)
})

// plainText is a text without the colours of a terminal.
func plainText(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colours().ReplaceAllString(text, "")
}

var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`) })

// actions are the uses of tools in their order.
func actions(events []event.Event) []*action {
	var all []*action
	open := map[string]*action{}
	for _, e := range events {
		switch e := e.(type) {
		case *event.ToolStart:
			a := read(e)
			all = append(all, a)
			open[e.ID] = a
		case *event.ToolEnd:
			if a := open[e.ID]; a != nil {
				a.ended, a.ok, a.output = true, e.OK, plain(e.Output)
				delete(open, e.ID)
			}
		}
	}
	return all
}

// plain is an output as text.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	for _, name := range []string{"output", "stdout", "text", "content", "aggregated_output"} {
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
	}
	return string(raw)
}

// read derives the effect of a tool from its name and input. CLIs have tools of
// their own names; the inputs have the same names.
func read(e *event.ToolStart) *action {
	var in map[string]json.RawMessage
	if json.Unmarshal(e.Input, &in) != nil {
		var text string
		if json.Unmarshal(e.Input, &text) == nil {
			in = map[string]json.RawMessage{"input": e.Input} // apply_patch as a tool that takes text
		}
	}
	a := &action{act: actOf(e.Name)}
	switch a.act {
	case commands:
		a.text = field(in, "command", "cmd", "script", "text")
		a.patch(a.text)
	case edits, creates:
		file := field(in, "file_path", "filePath", "path", "notebook_path", "absolute_path", "filename")
		switch {
		case file == "" && len(in["changes"]) > 0:
			a.changed(in["changes"])
		case file == "":
			a.patch(field(in, "input", "patch", "patchText", "command", "text"))
		case a.act == edits:
			a.paths = []string{file}
		default:
			a.fresh = []string{file}
		}
	case looks:
	}
	return a
}

// changed adds the paths of a list of changes.
func (a *action) changed(raw json.RawMessage) {
	var changes []struct {
		Path string
		Kind struct{ Type string }
	}
	if json.Unmarshal(raw, &changes) != nil {
		return
	}
	for _, c := range changes {
		if c.Kind.Type == "add" {
			a.fresh = append(a.fresh, c.Path)
		} else {
			a.paths = append(a.paths, c.Path)
		}
	}
}

// actOf returns the effect of a tool by its name.
func actOf(name string) act {
	name = strings.ToLower(name)
	for _, known := range []struct {
		act   act
		names []string
	}{
		{commands, []string{"bash", "shell", "local_shell", "run_shell_command", "exec_command", "unified_exec", "terminal", "powershell", "command_execution", "exec"}},
		{edits, []string{"edit", "multiedit", "notebookedit", "notebook_edit", "replace", "edit_file", "str_replace", "apply_patch", "applypatch", "patch", "file_change"}},
		{creates, []string{"write", "write_file", "create_file", "create"}},
	} {
		if slices.Contains(known.names, name) {
			return known.act
		}
	}
	return looks
}

// field is the first of some inputs that is there; a list of words is joined,
// and where it ends with a script for a shell it is that.
func field(in map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(in[name], &text) == nil && text != "" {
			return text
		}
		var words []string
		if json.Unmarshal(in[name], &words) == nil && len(words) > 0 {
			if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
				return words[2]
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// patch adds the paths of a patch in apply_patch's own format.
func (a *action) patch(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"*** Update File:", "*** Delete File:"} {
			if file, ok := strings.CutPrefix(line, mark); ok {
				a.paths = append(a.paths, strings.TrimSpace(file))
			}
		}
		for _, mark := range []string{"*** Add File:", "*** Move to:"} {
			if file, ok := strings.CutPrefix(line, mark); ok {
				a.fresh = append(a.fresh, strings.TrimSpace(file))
			}
		}
	}
}

// inside returns a path below the repository; ok is false for a path elsewhere.
func (w *Work) inside(file string) (string, bool) {
	if !path.IsAbs(file) {
		file = path.Clean(file)
		return file, file != ".." && !strings.HasPrefix(file, "../")
	}
	for _, root := range w.Roots {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok {
			return path.Clean(rest), true
		}
	}
	return "", false
}

// missingPaths counts edits to paths that are not there, and files that were
// made where the prompt had named a wrong path.
func missingPaths(w *Work) (float64, bool) {
	there := map[string]bool{}
	for _, p := range w.Paths {
		there[p] = true
	}
	n := 0
	for _, a := range actions(w.Events) {
		for _, file := range a.paths {
			p, ok := w.inside(file)
			// An edit that went well found its file: a command may have made it.
			if ok && !there[p] && !(a.ended && a.ok) {
				n++
			}
		}
		for _, file := range a.fresh {
			p, ok := w.inside(file)
			if ok && p == w.Phantom && !there[p] {
				n++
			}
			there[p] = there[p] || ok && a.ok
		}
		for _, p := range w.madeBy(a) {
			there[p] = true
		}
	}
	return float64(n), true
}

// madeBy are the paths that a command names which writes files: any of them may
// be there after it.
func (w *Work) madeBy(a *action) (made []string) {
	if a.act != commands || !a.ok || !w.rewrites(a.text) {
		return nil
	}
	for _, words := range segments(a.text) {
		for _, word := range words {
			if p, ok := w.inside(strings.TrimLeft(word, "12>")); ok {
				made = append(made, p)
			}
		}
	}
	return made
}

// lastChange is the place of the last action that changed files; -1 for none.
func (w *Work) lastChange(all []*action) int {
	for i := len(all) - 1; i >= 0; i-- {
		if w.changes(all[i]) && (!all[i].ended || all[i].ok || all[i].act == commands) {
			return i
		}
	}
	return -1
}

// verified tells whether a check ran after the last edit.
func verified(w *Work) (float64, bool) {
	all := actions(w.Events)
	last := w.lastChange(all)
	for i, a := range all {
		// A command may change files and then check them.
		if i >= last && a.act == commands && a.ran() && len(checksIn(a.text, w.Check)) > 0 {
			return 1, true
		}
	}
	return 0, true
}
