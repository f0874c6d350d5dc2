package model

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// longWait is the wait from which a limit counts as a window of a quota: an
// agent does not wait longer than that.
const longWait = time.Hour

// quota finds the window of a quota that an answer says is used up, in its headers
// first, and puts it into the error. now is the time.
func (a answered) quota(e *Error, now time.Time) {
	if e.Kind != task.Quota && e.Kind != task.RateLimit {
		return
	}
	if q := unifiedQuota(a.header); q != nil {
		e.Quota = q
	} else if q := usageLimit(a.header, a.body, now); q != nil {
		e.Quota = q
	} else if strings.Contains(a.body, "RESOURCE_EXHAUSTED") {
		a.googleQuota(e)
	} else if at := resetHeader(a.header, now); a.status == http.StatusTooManyRequests && at.Sub(now) > longWait {
		e.Quota = &event.Quota{ResetsAt: at.Unix()}
	}
	if e.Quota != nil {
		e.Kind, e.Wait = task.Quota, false
	}
}

// unifiedQuota is the window of a subscription that Anthropic's headers tell; nil:
// none is used up.
func unifiedQuota(h http.Header) *event.Quota {
	const prefix = "Anthropic-Ratelimit-Unified-"
	if h.Get(prefix+"Status") != "rejected" {
		return nil
	}
	q := &event.Quota{Window: h.Get(prefix + "Representative-Claim")}
	q.ResetsAt, _ = strconv.ParseInt(h.Get(prefix+"Reset"), 10, 64) // 0: it was not told
	q.Account = q.Window == "" || q.Window == "five_hour" || q.Window == "seven_day"
	q.Title = "Anthropic limit"
	if q.Window != "" {
		q.Title = "Anthropic " + strings.ReplaceAll(q.Window, "_", "-") + " limit"
	}
	return q
}

// usageLimit is the window of a ChatGPT plan that is used up; nil: none is.
func usageLimit(h http.Header, body string, now time.Time) *event.Quota {
	var told struct {
		Error struct {
			Type     string  `json:"type"`
			ResetsAt int64   `json:"resets_at"`
			ResetsIn float64 `json:"resets_in_seconds"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &told) != nil || told.Error.Type != "usage_limit_reached" {
		return nil
	}
	q := &event.Quota{Account: true, Title: "ChatGPT usage limit", ResetsAt: told.Error.ResetsAt}
	if q.ResetsAt == 0 && told.Error.ResetsIn > 0 && told.Error.ResetsIn < 1e9 {
		q.ResetsAt = now.Unix() + int64(told.Error.ResetsIn)
	}
	for _, w := range codexWindows(h, now) {
		if w.Percent >= 100 && told.Error.ResetsAt == 0 && told.Error.ResetsIn == 0 {
			q.ResetsAt = max(q.ResetsAt, w.ResetsAt)
		}
	}
	return q
}

var retryDelay = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"retryDelay":\s*"([0-9]{1,6}(?:\.[0-9]{1,9})?)s"`)
})

// googleQuota tells a daily quota from a quota a minute. A wait that the answer
// names takes precedence.
func (a answered) googleQuota(e *Error) {
	if m := retryDelay().FindStringSubmatch(a.body); m != nil {
		seconds, _ := strconv.ParseFloat(m[1], 64) // digits
		e.After = time.Duration(seconds * float64(time.Second))
		if e.After <= longWait {
			e.Kind, e.Wait = task.RateLimit, true
		} else {
			e.Quota = &event.Quota{Title: "Gemini quota"} // the wait says when it ends
		}
		return
	}
	if fault.Mentions(a.body, "perday", "per day", "daily") {
		e.Quota = &event.Quota{Window: "day", Midnight: "America/Los_Angeles", Title: "Gemini quota per day"}
	}
}

// resetHeader is when a limit ends whose header says that nothing is left; zero
// where no header says it.
func resetHeader(h http.Header, now time.Time) (last time.Time) {
	for _, names := range [][2]string{
		{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
		{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	} {
		if left := h.Get(names[0]); left != "" && left != "0" {
			continue
		}
		if at := resetTime(h.Get(names[1]), now); at.After(last) {
			last = at
		}
	}
	return last
}

// resetTime reads a duration such as 6m0s, or a Unix time in seconds or
// milliseconds.
func resetTime(text string, now time.Time) time.Time {
	if after, err := time.ParseDuration(text); err == nil && after > 0 {
		return now.Add(after)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 1e9:
		return time.Time{}
	case n > 1e12:
		return time.UnixMilli(min(n, 1e15))
	default:
		return time.Unix(n, 0)
	}
}

// quotaUse is how much of quota windows the headers of an answer say is used.
func quotaUse(h http.Header, now time.Time) (all []event.QuotaUsed) {
	for _, w := range [][2]string{{"5h", "five-hour limit"}, {"7d", "weekly limit"}} {
		prefix := "Anthropic-Ratelimit-Unified-" + w[0] + "-"
		part, err := strconv.ParseFloat(h.Get(prefix+"Utilization"), 64)
		if err != nil || !(part >= 0) {
			continue
		}
		resets, _ := strconv.ParseInt(h.Get(prefix+"Reset"), 10, 64) // 0: it was not told
		all = append(all, event.QuotaUsed{
			Window: w[0], Title: "Anthropic " + w[1], Percent: percent(100 * part), ResetsAt: resets,
		})
	}
	return append(all, codexWindows(h, now)...)
}

// codexWindows are the windows of a ChatGPT plan, by headers.
func codexWindows(h http.Header, now time.Time) (all []event.QuotaUsed) {
	for _, name := range []string{"Primary", "Secondary"} {
		prefix := "X-Codex-" + name + "-"
		used, err := strconv.ParseFloat(h.Get(prefix+"Used-Percent"), 64)
		if err != nil || !(used >= 0) {
			continue
		}
		u := event.QuotaUsed{Window: strings.ToLower(name), Title: "ChatGPT usage limit", Percent: percent(used)}
		if minutes, err := strconv.ParseInt(h.Get(prefix+"Window-Minutes"), 10, 64); err == nil && minutes > 0 && minutes < 1e6 {
			u.Title = "ChatGPT " + event.WindowTitle(time.Duration(minutes)*time.Minute)
		}
		if at, err := strconv.ParseInt(h.Get(prefix+"Reset-At"), 10, 64); err == nil {
			u.ResetsAt = at
		} else if in, err := strconv.ParseFloat(h.Get(prefix+"Reset-After-Seconds"), 64); err == nil && in > 0 && in < 1e9 {
			u.ResetsAt = now.Unix() + int64(in)
		}
		all = append(all, u)
	}
	return all
}

// percent rounds a share down: 100 means that nothing is left.
func percent(used float64) int { return int(math.Min(math.Max(used, 0), 100)) }
