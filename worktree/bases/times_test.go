package bases

import (
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

func TestTimeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id   git.Hash
		want time.Time
	}{
		{"", time.Unix(layerSecond, 0)},
		{"no id at all", time.Unix(layerSecond, 0)},
		{git.Hash(strings.Repeat("0", 40)), time.Unix(layerSecond, 0)},
		{git.Hash("0" + "0001" + "0000002" + strings.Repeat("f", 28)), time.Unix(layerSecond+1, 2)},
		{git.Hash(strings.Repeat("f", 64)), time.Unix(layerSecond+spread-1, 1<<nanoBits-1)},
	} {
		if got := layerTime(tt.id); !got.Equal(tt.want) {
			t.Errorf("layerTime(%s) = %v, want %v", tt.id, got, tt.want)
		}
	}
	id := git.Hash(strings.Repeat("f", 40))
	if !longAgo().Before(WholeTime("")) || !WholeTime(id).Before(layerTime("")) || layerTime(id).After(time.Unix(1_100_000_000, 0)) {
		t.Error("the times are not in order, or not long ago")
	}
}
