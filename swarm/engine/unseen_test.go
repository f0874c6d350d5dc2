package engine

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestMentionUnseen: agents with a prompt are told once how many files of the
// user they do not see.
func TestMentionUnseen(t *testing.T) {
	t.Parallel()
	const note = "\n\nNote: the user's checkout has uncommitted changes in "
	for _, tt := range []struct {
		name      string
		unseen    int
		call      task.Call
		continued *event.Continued
		want      string
	}{
		{"none", 0, task.Call{}, nil, "do it\n"},
		{"one", 1, task.Call{}, nil, "do it" + note + "1 file that are not in your workspace.\n"},
		{"several", 3, task.Call{}, nil, "do it" + note + "3 files that are not in your workspace.\n"},
		{"a command", 3, task.Call{Command: []string{"true"}}, nil, "do it\n"},
		{"the subject of a commit", 3, task.Call{SubjectOf: "c"}, nil, "do it\n"},
		{"a conversation that goes on", 3, task.Call{}, &event.Continued{}, "do it\n"},
	} {
		a := &attempt{engine: &Engine{config: Config{Unseen: tt.unseen}}, call: &tt.call, continued: tt.continued}
		a.prompt = "do it\n"
		a.mentionUnseen()
		if a.prompt != tt.want {
			t.Errorf("%s: the prompt is %q, want %q", tt.name, a.prompt, tt.want)
		}
	}
}
