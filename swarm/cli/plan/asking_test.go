package plan

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give     session.Contact
		detached string
		want     inbox.Policy
	}{
		{session.Contact{}, "", inbox.Deny},
		{session.Contact{}, "3", inbox.Wait},
		{session.Contact{Questions: inbox.Wait}, "", inbox.Wait},
		{session.Contact{Questions: inbox.Deny}, "3", inbox.Deny},
	} {
		p := cmdline.Without(cmdline.Env{
			Stdin: strings.NewReader(""), Stderr: io.Discard, Getenv: getenv.Func(DetachedVar + "=" + tt.detached),
		})
		if got := AskingPolicy(p, tt.give); got != tt.want {
			t.Errorf("policy(%+v), detached %q = %s, want %s", tt.give, tt.detached, got, tt.want)
		}
	}
}

// TestRecordedConfig checks that no field of a part hides a field of another
// part, which JSON would drop in silence.
func TestRecordedConfig(t *testing.T) {
	t.Parallel()
	give := session.Config{
		Config:   engine.Config{Jobs: 3, Verify: "v", Agents: map[string]*agent.Spec{"x": {Name: "x"}}},
		Contact:  session.Contact{Questions: inbox.Wait, Notify: "n"},
		Settings: isolation.Settings{Sandbox: isolation.SandboxOff, Backend: isolation.BackendAuto, Hide: []string{"h"}, Write: []string{"w"}},
		Policy:   policy.Policy{Confined: policy.Snapshot, Allow: []string{"push to x"}, Audit: true},
	}
	text, err := json.Marshal(give)
	if err != nil {
		t.Fatal(err)
	}
	var got session.Config
	var plain engine.Config
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if got.Contact != give.Contact || got.Verify != "v" || plain.Jobs != 3 || plain.Agents["x"].Name != "x" {
		t.Errorf("%s came back as %+v and %+v", text, got, plain)
	}
}
