package modeltest

import (
	"net/http"
	"strconv"
	"time"
)

// fault is an error to send, with its words.
type fault struct {
	status  int
	after   time.Duration
	quota   bool
	message string
}

func newFault(e *Error) fault {
	f := fault{status: e.Status, after: time.Duration(e.RetryAfter), quota: e.Quota, message: e.Message}
	if f.message == "" {
		f.message = f.words()
	}
	return f
}

func (f fault) words() string {
	switch {
	case f.quota:
		return "You exceeded your current quota, please check your plan and billing details."
	case f.status == http.StatusUnauthorized:
		return "The API key is invalid."
	case f.status == http.StatusForbidden:
		return "The API key has no permission for this model."
	case f.status == http.StatusTooManyRequests:
		return "Rate limit reached, please try again later."
	case f.status == overloaded:
		return "Overloaded"
	default:
		return "The server had an error while processing the request."
	}
}

// overloaded is a status of its own in Anthropic's API.
const overloaded = 529

func (f fault) header(to http.Header) {
	if f.after > 0 {
		seconds := (f.after + time.Second - 1) / time.Second
		to.Set("Retry-After", strconv.Itoa(int(seconds)))
	}
}
