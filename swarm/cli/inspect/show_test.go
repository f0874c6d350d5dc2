package inspect

import (
	"bytes"
	"strings"
	"testing"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestShowPrintsAPathOnOneLine: a line break in the name of a file is escaped.
func TestShowPrintsAPathOnOneLine(t *testing.T) {
	t.Parallel()
	var module bytes.Buffer
	m := task.ModulePatch{Path: "lib", Paths: []string{"a\nb", "c"}}
	if err := printModule(&module, terminal.Output{}, showObject{}, m); err != nil {
		t.Fatal(err)
	}
	var o showObject
	o.Paths, o.Ignored = []string{"a\nb", "c"}, []task.Ignored{{Path: "d\ne"}}
	p := &portrait{}
	p.texts(o)
	for name, text := range map[string]string{"a submodule": module.String(), "an agent": p.String()} {
		if !strings.Contains(text, "\n  a\\nb\n  c\n") {
			t.Errorf("%s: %q, want a\\nb on a line", name, text)
		}
	}
	if !strings.Contains(p.String(), "  d\\ne  ") {
		t.Errorf("ignored files: %q, want d\\ne on a line", p.String())
	}
}

// TestNotesAreShort: status leaves out the middle of a long note.
func TestNotesAreShort(t *testing.T) {
	t.Parallel()
	const end = `" could not be read: its mode was changed`
	short := `"` + strings.Repeat("é", view.LongestNote-1-len(end)) + end
	for _, tt := range []struct{ note, want string }{
		{short, short},
		{`"` + strings.Repeat("a/", 2040) + end, `"` + strings.Repeat("a/", 99) + "a…"},
	} {
		v := &store.View{Agents: []*store.Agent{{Captured: &event.Captured{Notes: []string{tt.note}}}}}
		var b bytes.Buffer
		view.PrintNotes(&b, v, view.NoLimit)
		line := b.String()
		if !strings.Contains(line, tt.want) || !strings.HasSuffix(line, end+"\n") || len([]rune(line)) > view.LongestNote+len(": note: \n") {
			t.Errorf("a note of %d characters: %q", len(tt.note), line)
		}
	}
}
