package codex

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// failure is an error as the agent tells of it.
type failure struct {
	Message string `json:"message"`
	// Info is a word, or an object with a single member, which holds the status
	// of a request.
	Info    json.RawMessage `json:"codexErrorInfo"`
	Details string          `json:"additionalDetails"`
}

// UnmarshalJSON ignores a value that is no object: other messages use the name
// for other values.
func (f *failure) UnmarshalJSON(text []byte) error {
	type plain failure
	var p plain
	if json.Unmarshal(text, &p) == nil {
		*f = failure(p)
	}
	return nil
}

// means returns the kind of the error, the message for people, and the time to
// wait.
func (f *failure) means() (kind task.ErrorKind, message string, afterMS int64) {
	message = f.Message
	if f.Details != "" && strings.HasPrefix(message, "Reconnecting") {
		message = f.Details
	}
	message = inner(message)
	return f.kind(message), message, after(message)
}

// kind decides by the agent's name of the error, then by the status of the
// request, then by its words.
func (f *failure) kind(message string) task.ErrorKind {
	word, status := f.info()
	switch word {
	case "usageLimitExceeded", "sessionBudgetExceeded":
		return task.Quota
	case "rateLimitExceeded":
		return fault.Kind(http.StatusTooManyRequests, message+"\n"+f.Details) // its words may tell of a quota
	case "tooManyDenials":
		return task.RateLimit
	case "serverOverloaded", "internalServerError", "flexUnavailable", "policyCapacityUnavailable":
		return task.Overloaded
	case "unauthorized":
		return task.Auth
	case "badRequest", "modelNotFound", "contextWindowExceeded":
		return task.Invalid
	case "cyberPolicy", "misalignmentPolicyViolation", "inferenceHookDenied":
		return task.Refused
	}
	if strings.Contains(f.Message+f.Details, "usage_limit_reached") {
		return task.Quota
	}
	if status == http.StatusTooManyRequests {
		message += "\n" + f.Details
	}
	return fault.Kind(status, message)
}

// info is the word for the error, and the status of the request; 0 for none.
func (f *failure) info() (word string, status int) {
	if json.Unmarshal(f.Info, &word) == nil {
		return word, 0
	}
	var named map[string]struct {
		Status *int `json:"httpStatusCode"`
	}
	if json.Unmarshal(f.Info, &named) != nil {
		return "", 0
	}
	// There is one member, as far as is known. Of several the last by name
	// counts, so that a line means the same each time it is read.
	for _, name := range slices.Sorted(maps.Keys(named)) {
		word = name
		if detail := named[name]; detail.Status != nil {
			status = *detail.Status
		}
	}
	return word, status
}

// inner is the message of an error that a provider wrote as JSON.
func inner(message string) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(message), &body) != nil || body.Error.Message == "" {
		return message
	}
	if body.Error.Type == "" {
		return body.Error.Message
	}
	return body.Error.Message + " (" + body.Error.Type + ")"
}

var tryAgain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)try again in ([0-9]+(?:\.[0-9]+)?) ?(ms|s|seconds?|m|minutes?)\b`)
})

// after is how long a provider asks to wait, in milliseconds; 0 where it does
// not.
func after(message string) int64 {
	found := tryAgain().FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	count, err := strconv.ParseFloat(found[1], 64)
	if err != nil || count > 1e6 {
		return 0
	}
	unit := time.Second
	switch {
	case found[2] == "ms":
		unit = time.Millisecond
	case found[2][0] == 'm' || found[2][0] == 'M':
		unit = time.Minute
	}
	return int64(count * float64(unit/time.Millisecond))
}

var reconnecting = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Reconnecting\.\.\. ([0-9]{1,2})/`) })

// next is about how long codex waits before its next try where its provider does
// not say, in milliseconds: 0.2 s, and twice as long each time (0.169.0). It is 0
// if the message has no number of a try.
func (f *failure) next() int64 {
	found := reconnecting().FindStringSubmatch(f.Message)
	if found == nil {
		return 0
	}
	try, err := strconv.Atoi(found[1])
	if err != nil || try < 1 {
		return 0
	}
	return 200 << min(try-1, 8)
}
