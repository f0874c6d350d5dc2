package codex

import (
	"math"
	"strings"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/resettime"
	"agentswarm/swarm/task"
)

// rateLimits are the quota windows of the account, as a notice tells them: of five
// hours and of a week, in most plans.
type rateLimits struct {
	Primary   *rateWindow `json:"primary"`
	Secondary *rateWindow `json:"secondary"`
}

// rateWindow is a quota window.
type rateWindow struct {
	Used     float64 `json:"usedPercent"`
	Minutes  int64   `json:"windowDurationMins"`
	ResetsAt int64   `json:"resetsAt"` // Unix seconds
}

func (w *rateWindow) title() string {
	if w.Minutes <= 0 || w.Minutes > 1e6 {
		return "Codex usage limit"
	}
	return "Codex " + event.WindowTitle(time.Duration(w.Minutes)*time.Minute)
}

// limits reads a notice of the quota windows. It keeps them for an error that
// follows.
func (p *parser) limits(r rateLimits) (found []event.Event) {
	p.windows = r
	for _, named := range []struct {
		name string
		w    *rateWindow
	}{{"primary", r.Primary}, {"secondary", r.Secondary}} {
		if named.w == nil || !(named.w.Used >= 0) {
			continue
		}
		found = append(found, &event.QuotaUsed{
			Window: named.name, Title: named.w.title(), Percent: int(math.Min(named.w.Used, 100)), ResetsAt: max(0, named.w.ResetsAt),
		})
	}
	return found
}

// quotaOf returns the quota window of an error; nil if the error has none, or
// if the end of the window is unknown. All models of the account share it. Of
// the reported windows, those that are used up count, and of them the last to
// end.
func (p *parser) quotaOf(f *failure, kind task.ErrorKind, message string) *event.Quota {
	if kind != task.Quota {
		return nil
	}
	word, _ := f.info()
	limit := word == "usageLimitExceeded" || strings.Contains(strings.ToLower(message+f.Message+f.Details), "usage limit") ||
		strings.Contains(f.Message+f.Details, "usage_limit_reached")
	if !limit {
		return nil
	}
	q := &event.Quota{Account: true, Title: "Codex usage limit"}
	if at, ok := resettime.Unix(f.Message + "\n" + f.Details); ok {
		q.ResetsAt = at.Unix()
		return q
	}
	for _, w := range []*rateWindow{p.windows.Primary, p.windows.Secondary} {
		if w != nil && w.Used >= 100 && w.ResetsAt > q.ResetsAt {
			q.ResetsAt, q.Title = w.ResetsAt, w.title()
		}
	}
	return q
}
