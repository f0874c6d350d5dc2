package main

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
	"agentswarm/worktree"
)

func failing(status int) modeltest.Turn {
	return modeltest.Turn{Error: &modeltest.Error{Status: status}}
}

// TestRealAuth checks that a refused key is reported as that, and that no
// program tries it again.
func TestRealAuth(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k, modeltest.Rule{Turn: failing(http.StatusUnauthorized)})
		got := r.run(3, "Say done")
		if got.Error.Kind != "auth" || got.Attempt != 1 {
			t.Errorf("it is %+v, want the error auth of the first attempt", got)
		}
		if asked := statuses(r); len(asked) == 0 {
			t.Error("its model was not asked")
		}
	})
}

// TestRealNobody holds that an agent whose model server does not listen is told as
// that, from its first attempt on: swarm waits for such a server only for a while.
func TestRealNobody(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		url := modeltest.Nobody(t)
		r := newRealAt(t, k, url)
		r.ends(0, "run", "--detach", "--agent", k.name, "--model", k.model, "Say done")
		var status string
		r.until("nobody is told of", func() bool {
			status = r.ends(0, "status").stdout
			return strings.Contains(status, "no server answers at ")
		})
		// Some CLIs keep the address to themselves.
		if host := strings.TrimPrefix(url, "http://"); !strings.Contains(strings.ReplaceAll(status, "http://", ""), "no server answers at "+host) {
			t.Errorf("the server at %s is not named: %s", url, status)
		}
		r.swarm(nil, "cancel", "a1") // on a busy machine it has given up by now
		r.ends(3, "wait")
	})
}

// TestRealRecovers checks that an agent whose model fails once does its work
// all the same. There is a single patch and a single answer, whichever program
// tries again.
func TestRealRecovers(t *testing.T) {
	t.Parallel()
	limited := modeltest.Turn{Error: &modeltest.Error{Status: http.StatusTooManyRequests, RetryAfter: modeltest.Duration(time.Second)}}
	for _, test := range []struct {
		name   string
		turn   modeltest.Turn
		status int
	}{
		{"429", limited, http.StatusTooManyRequests},
		{"500", failing(http.StatusInternalServerError), http.StatusInternalServerError},
		{"dropped", modeltest.Turn{Drop: modeltest.DropStart}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onKinds(t, func(t *testing.T, k realKind) {
				failed := modeltest.Rule{When: modeltest.When{Serial: at(1)}, Turn: test.turn}
				r := newReal(t, k, append([]modeltest.Rule{failed}, editing()...)...)
				got := r.run(0, "--retries", "2", "Change hello.txt")
				if got.Status != "completed" || strings.TrimSpace(got.Output) != "I changed hello.txt." {
					t.Errorf("it is %+v", got)
				}
				if got.Patch == nil || got.Patch.Added != 1 || got.Patch.Deleted != 1 || got.Patch.Files != 1 {
					t.Errorf("its patch is %+v", got.Patch)
				}
				want := 1 // they ask again by themselves
				if k.name == agent.KindGemini {
					want = 2 // it gives up at once, so that swarm begins again
				}
				if got.Attempt != want {
					t.Errorf("it is attempt %d, want %d", got.Attempt, want)
				}
				if asked := statuses(r); !slices.Equal(asked, []int{test.status, 200, 200, 200}) {
					t.Errorf("its model was asked, and answered %d", asked)
				}
			})
		})
	}
}

// statuses are how requests were answered, in their order; 0 for a connection
// that was cut.
func statuses(r *real) (all []int) {
	for _, request := range r.server.Requests() {
		all = append(all, request.Status)
	}
	return all
}

// TestRealGate holds that all agents finish whose provider answers eight
// requests at a time. How many requests the provider refuses depends on the
// load of the machine, so only a campaign of a hundred agents has a bound for
// it; TestCrowd of package limit holds the same bound with a simulated clock.
func TestRealGate(t *testing.T) {
	t.Parallel()
	const whole = 100
	agents := campaign.Rounds(t, 20, whole)
	onKinds(t, func(t *testing.T, k realKind) {
		rules := editing()
		for i := range rules {
			rules[i].Delay = modeltest.Duration(500 * time.Millisecond)
		}
		r := newRealWith(t, k, worktree.Overlay, modeltest.Script{
			Rules: rules, Limit: 8, RetryAfter: modeltest.Duration(time.Second), Forget: true,
		})
		s := r.ends(0, "run", "--json", "--agent", k.name, "--model", k.model,
			"--count", strconv.Itoa(agents), "-j", strconv.Itoa(agents), "--yes", "Change hello.txt")
		if n := strings.Count(s.stdout, `"status":"completed","changed":true`); n != agents {
			t.Errorf("%d of %d agents are right", n, agents)
		}
		stats := r.server.Stats()
		t.Logf("of %d requests %d were refused, %d were at work at once", stats.Requests, stats.Refused, stats.Highest)
		if agents == whole && stats.Refused*20 >= stats.Requests {
			t.Errorf("of %d requests %d were refused", stats.Requests, stats.Refused)
		}
	}, agent.KindBuiltin)
}
