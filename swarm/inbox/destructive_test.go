package inbox

import (
	"encoding/json"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestDestructiveIsAllowedOneByOne checks that a yes to a DESTRUCTIVE action
// closes the question of a single agent. A yes to all closes those of all
// agents, as does a no.
func TestDestructiveIsAllowedOneByOne(t *testing.T) {
	t.Parallel()
	action := json.RawMessage(`"rm -rf /srv/data"`)
	for _, tt := range []struct {
		name  string
		tier  string
		reply event.Replied
		want  int
	}{
		{"a yes", "DESTRUCTIVE", event.Replied{Allow: true}, 1},
		{"a yes to all", "DESTRUCTIVE", event.Replied{Allow: true, All: true}, 3},
		{"a no", "DESTRUCTIVE", event.Replied{}, 3},
		{"a yes to less", "HARD_TO_REVERSE", event.Replied{Allow: true}, 3},
	} {
		b := New("k3x9q2", Wait, nil)
		var first string
		for _, agent := range []task.ID{"a1", "a2", "a3"} {
			q, r := b.AskAbout(agent, 1, &event.Asked{Action: action}, Looked{
				Risk: &event.Risk{Tier: tt.tier, Reason: "outside"},
			})
			if r != nil {
				t.Fatalf("%s: it was answered: %+v", tt.name, r)
			}
			if first == "" {
				first = q.ID
			}
		}
		tt.reply.ID = first
		closed, err := b.Answer(Answer{Replied: tt.reply, Shown: Digest(action)})
		if err != nil || len(closed) != tt.want {
			t.Errorf("%s closed %d questions, %v, want %d", tt.name, len(closed), err, tt.want)
		}
	}
}
