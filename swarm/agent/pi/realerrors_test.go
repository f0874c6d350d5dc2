package pi

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/modeltest"
	"agentswarm/swarm/task"
)

// fail answers every request with an error in the words of Anthropic.
func fail(status int, kind, words string) func(*asked) answer {
	after := ""
	if status == http.StatusTooManyRequests {
		after = "1.5"
	}
	return func(*asked) answer {
		return answer{status: status, after: after, body: `{"type":"error","error":{"type":"` + kind + `","message":"` + words + `"}}`}
	}
}

func TestRealErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		reply    func(*asked) answer
		kind     task.ErrorKind
		words    string
		requests int // 0: any
		after    int64
	}{
		{"401", fail(401, "authentication_error", "invalid x-api-key"), task.Auth, "invalid x-api-key", 1, 0},
		{"403", fail(403, "permission_error", "not yours"), task.Auth, "not yours", 1, 0},
		{"404", fail(404, "not_found_error", "model: fake"), task.Invalid, "model: fake", 1, 0},
		{"400", fail(400, "invalid_request_error", "messages: no"), task.Invalid, "messages: no", 1, 0},
		{"quota", fail(400, "invalid_request_error", "Your credit balance is too low"), task.Quota, "credit balance", 1, 0},
		{"429", fail(429, "rate_limit_error", "slow down"), task.RateLimit, "slow down", 3, 1500},
		{"500", fail(500, "api_error", "oh"), task.Overloaded, "oh", 3, 0},
		{"529", fail(529, "overloaded_error", "Overloaded"), task.Overloaded, "Overloaded", 3, 0},
		{"dropped", func(*asked) answer { return answer{text: "half a", drop: true} }, task.Overloaded, "", 3, 0},
		{"length", func(*asked) answer { return answer{text: "half a", stop: "max_tokens"} }, task.Other, "limit of output for a message", 0, 0},
		{"refusal", func(*asked) answer { return answer{stop: "refusal"} }, task.Refused, "", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial{model: serve(t, c.reply)}
			r.try(t)
			r.ended(t, c.kind, c.words)
			if n := len(r.model.requests()); c.requests > 0 && n != c.requests {
				t.Errorf("it asked %d times, want %d", n, c.requests)
			}
			if r.out.Answer != nil || r.out.Exit.Code != 0 {
				t.Errorf("it answered %+v, exit %+v", r.out.Answer, r.out.Exit)
			}
			if got := strings.Count(r.kinds(), "turn"); got != 1 {
				t.Errorf("%d turns: %s", got, r.kinds())
			}
			if got := r.out.Error.RetryAfterMS; got != c.after {
				t.Errorf("it is to wait %d ms, want %d", got, c.after)
			}
		})
	}
}

func TestRealNobodyThere(t *testing.T) {
	t.Parallel()
	m := serve(t, edits)
	r := trial{model: m}
	r.prepare(t)
	nobody := modeltest.Nobody(t)
	r.request.Login.Files[0].Data = bytes.ReplaceAll(r.request.Login.Files[0].Data, []byte(m.URL), []byte(nobody))
	r.live(t, t.Context())
	r.ended(t, task.Overloaded, fault.Down(nobody))
}

// TestRealRecovers continues a turn whose first request failed: it counts as a
// single turn.
func TestRealRecovers(t *testing.T) {
	t.Parallel()
	r := trial{model: serve(t, func(a *asked) answer {
		if a.N == 2 {
			return answer{status: 429, after: "3", body: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`}
		}
		return edits(a)
	})}
	r.try(t)
	r.ended(t, "", "")
	if got := strings.Count(r.kinds(), "turn"); got != 3 {
		t.Errorf("%d turns: %s", got, r.kinds())
	}
	i := slices.IndexFunc(r.events, func(e event.Event) bool { return event.Kind(e) == "retry" })
	if i < 0 {
		t.Fatalf("no retry: %s", r.kinds())
	}
	if got := r.events[i].(*event.Retry); got.Kind != task.RateLimit || got.RetryAfterMS != 3000 {
		t.Errorf("retry %+v", got)
	}
	asked := r.model.requests()
	if waited := asked[2].At.Sub(asked[1].At); waited < 3*time.Second {
		t.Errorf("it asked again after %s, and was told 3 s", waited)
	}
}

func TestRealBadSetup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*trial)
		kind   task.ErrorKind
		words  string
		exit   int
	}{
		{"effort", func(r *trial) { r.spec.Effort = "high" }, task.Invalid, `cannot think at "high"; the nearest it can is "off"`, 0},
		{"model", func(r *trial) { r.spec.Model = "nobody/knows" }, task.Other, "exit status 1", 1},
		{"no login", func(r *trial) { r.models = `{}` }, task.Auth, "No API key found for the selected model.", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial{model: serve(t, edits)}
			c.change(&r)
			r.try(t)
			r.ended(t, c.kind, c.words)
			if r.out.Exit.Code != c.exit {
				t.Errorf("exit %+v", r.out.Exit)
			}
			if n := len(r.model.requests()); n != 0 {
				t.Errorf("it asked the model %d times", n)
			}
			if got := r.contents(t, "hello.txt"); got != "hello world\nsecond\n" {
				t.Errorf("hello.txt holds %q", got)
			}
		})
	}
}
