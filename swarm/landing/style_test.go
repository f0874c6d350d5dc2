package landing

import (
	"reflect"
	"testing"

	"agentswarm/swarm/event"
)

// TestStyleOver: a style that is given lays itself over that of the merge before, and
// repeats none of its trailers.
func TestStyleOver(t *testing.T) {
	t.Parallel()
	recorded := &event.CommitStyle{Message: "m", Trailers: []string{"A: 1"}, Author: "user"}
	for _, tt := range []struct {
		name   string
		before *event.CommitStyle
		give   StyleRequest
		want   StyleRequest
	}{
		{"no style before", nil, StyleRequest{Squash: true}, StyleRequest{Squash: true}},
		{"no style given", recorded, StyleRequest{}, StyleRequest{Message: "m", Trailers: []string{"A: 1"}, Author: ByUser}},
		{
			"both", recorded, StyleRequest{Message: "n", Trailers: []string{"A: 1", "B: 2"}, Squash: true, Author: ByAgent},
			StyleRequest{Message: "n", Trailers: []string{"A: 1", "B: 2"}, Squash: true, Author: ByAgent},
		},
	} {
		if got := StyleOver(tt.before, tt.give); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: StyleOver = %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if len(recorded.Trailers) != 1 {
		t.Errorf("the style before has the trailers %q now", recorded.Trailers)
	}
	if (StyleRequest{}).Recorded() != nil {
		t.Error("an empty style is recorded")
	}
}
