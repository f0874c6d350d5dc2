package claude

import (
	"regexp"
	"strings"
	"sync"

	"agentswarm/swarm/event"
)

// rateLimit is the content of a rate_limit_event, which tells of the quota windows
// of a subscription, also before they are used up.
type rateLimit struct {
	Status      string  `json:"status"` // allowed, allowed_warning or rejected
	ResetsAt    int64   `json:"resetsAt"`
	Type        string  `json:"rateLimitType"`
	Utilization float64 `json:"utilization"`
	Threshold   float64 `json:"surpassedThreshold"`
	Overage     bool    `json:"isUsingOverage"`
}

// limits reads the agent's report of its quota windows. It keeps an exhausted
// window for the error that follows.
func (s *stream) limits(r *rateLimit) []event.Event {
	switch {
	case r.Type == "":
		return nil
	case r.Status == "rejected" && !r.Overage:
		s.rejected = r.quota()
		return nil
	}
	s.rejected = nil
	used := max(r.Utilization, r.Threshold)
	if !(used > 0 && used <= 1) || r.Type == "overage" {
		return nil
	}
	return []event.Event{&event.QuotaUsed{
		Window: r.Type, Title: r.quota().Title, Percent: int(100*used + 1e-6), ResetsAt: r.ResetsAt,
	}}
}

// quota is the window of an event.
func (r *rateLimit) quota() *event.Quota {
	q := &event.Quota{Window: r.Type, ResetsAt: max(0, r.ResetsAt), Account: true}
	switch r.Type {
	case "five_hour":
		q.Title = "Claude session limit"
	case "seven_day":
		q.Title = "Claude weekly limit"
	default:
		if family, ok := strings.CutPrefix(r.Type, "seven_day_"); ok {
			q.Account, q.Family = false, family
			q.Title = "Claude weekly limit of " + family
		} else {
			q.Title = "Claude " + strings.ReplaceAll(r.Type, "_", " ") + " limit"
		}
	}
	return q
}

// exhausted are the words of Claude Code for a window that is used up. Its first
// group names the window.
var exhausted = sync.OnceValue(func() *regexp.Regexp {
	const window = `((?:5-hour|session|weekly|usage|opus|sonnet|haiku)(?: weekly| usage)?)`
	return regexp.MustCompile(`(?i)^(?:you[’']ve (?:hit|reached) your (?:` + window + ` )?limit\b|(?:claude (?:ai )?)?` + window + ` limit reached\b)`)
})

// temporary begins Claude Code's message about an overloaded server.
const temporary = "temporarily limiting requests"

// quotaOf is the window that an error of the agent is about; nil: it is about
// something else. The event that came before it tells more than its words.
func (s *stream) quotaOf(status int, message string) *event.Quota {
	if strings.Contains(message, temporary) {
		return nil
	}
	m := exhausted().FindStringSubmatch(strings.TrimSpace(message))
	if s.rejected != nil && (m != nil || status == 429) {
		return s.rejected
	}
	if m == nil {
		return nil
	}
	name := strings.ToLower(m[1] + m[2])
	if name == "" {
		name = "usage"
	}
	q := &event.Quota{Account: true, Title: "Claude " + name + " limit"}
	for _, family := range []string{"opus", "sonnet", "haiku"} {
		if strings.HasPrefix(name, family) {
			q.Account, q.Family = false, family
		}
	}
	return q
}
