package runcmd

import (
	"encoding/json"
	"testing"

	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/workflow/library"
)

// TestFormOfRecordedScripts: runs of older versions know of the form only that
// their calls share a workspace.
func TestFormOfRecordedScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]script.Form{
		`{"name":"a.js","text":"x"}`:                 script.FormOwn,
		`{"name":"a.js","text":"x","shared":true}`:   script.FormClaude,
		`{"name":"a.js","text":"x","form":"claude"}`: script.FormClaude,
	} {
		v := &store.View{}
		v.Identity.Workflow.Kind, v.Identity.Workflow.Text = store.WorkflowScript, text
		s, err := library.Latest(v)
		if err != nil || s.Form != want {
			t.Errorf("latestScript of %s = %+v, %v; want the form %q", text, s, err, want)
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		v.Identity.Workflow.Text = string(again)
		if s, err = library.Latest(v); err != nil || s.Form != want {
			t.Errorf("recorded again as %s it has the form %q (%v), want %q", again, s.Form, err, want)
		}
	}
}
