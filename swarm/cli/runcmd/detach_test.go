package runcmd

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
)

type closing struct{ bytes.Buffer }

func (*closing) Close() error { return nil }

// TestReportKeepsRefusals checks that the waiting half repeats a refusal of the
// detached half, in the same words, with the same code, and only once.
func TestReportKeepsRefusals(t *testing.T) {
	t.Parallel()
	give := &TrustError{Items: []config.Item{{Key: "setup"}}}
	pipe := &closing{}
	r := &report{pipe: pipe}
	if err := r.send("", give); err != nil {
		t.Fatal(err)
	}
	if err := r.send("k3x9q2", nil); err != nil {
		t.Fatal(err)
	}
	var b begun
	if err := json.Unmarshal(pipe.Bytes(), &b); err != nil {
		t.Fatalf("the report is %q: %v", pipe.Bytes(), err)
	}
	got := &DetachedError{begun: b}
	if got.Error() != give.Error() || exit.HintOf(got) != give.Hint() ||
		exit.CodeOf(got) != exit.Approval || exit.KindOf(got) != "refused" {
		t.Errorf("the waiting half says %+v, want what %v says", b, give)
	}
}
