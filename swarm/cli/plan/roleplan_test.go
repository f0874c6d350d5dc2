package plan

import (
	"bytes"
	"testing"

	"agentswarm/roles"
)

func TestSayUnused(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := &roles.Orders{
		Role: "commit", Model: roles.Spec{Model: "m"}, Models: map[string]roles.Spec{"revewer": {Model: "r"}, "smol": {Model: "s"}},
	}
	SayUnused(&b, o, []string{"smol", roles.NamedRole})
	const want = "not used: --agent-model revewer: no stage, type or role of the run is called so; did you mean reviewer?\n" +
		"not used: --model m: every agent of the run has a model of its own\n" +
		"role commit: not configured, so it uses the model of default\n"
	if b.String() != want {
		t.Errorf("said:\n%swant:\n%s", b.String(), want)
	}
	b.Reset()
	if SayUnused(&b, nil, nil); b.Len() > 0 {
		t.Errorf("of a run without roles: %s", b.String())
	}
}
