package task

import (
	"fmt"
	"strings"
)

// ErrorKind is a closed set of reasons why an agent did not complete.
type ErrorKind string

// The kinds of errors. A cancelled result carries any of the four causes.
const (
	NoResult        ErrorKind = "no_result"      // ended well by its exit, but gave no answer
	Timeout         ErrorKind = "timeout"        // ran longer than allowed
	IdleTimeout     ErrorKind = "idle_timeout"   // wrote nothing for longer than allowed
	OutputExceeded  ErrorKind = "output_limit"   // wrote more than allowed
	StartFailed     ErrorKind = "start_failed"   // never ran
	Killed          ErrorKind = "killed"         // a signal that is not ours ended it
	Lost            ErrorKind = "lost"           // its supervisor or swarm itself died
	CaptureFailed   ErrorKind = "capture_failed" // its work could not be kept as a patch; the workspace is
	SchemaMismatch  ErrorKind = "schema"
	Refused         ErrorKind = "refused"
	Invalid         ErrorKind = "invalid"
	RateLimit       ErrorKind = "rate_limit"
	Overloaded      ErrorKind = "overloaded"
	Quota           ErrorKind = "quota"
	Auth            ErrorKind = "auth"
	CauseBudget     ErrorKind = "budget"
	CauseDependency ErrorKind = "dependency"
	Conflict        ErrorKind = "conflict"
	CauseCancelled  ErrorKind = "cancelled" // by name, by the script, a lost race
	CauseStopped    ErrorKind = "stopped"   // with its run
	Other           ErrorKind = "other"     // it said so itself: its exit code or its error
)

// Kinds lists every error kind.
func Kinds() []ErrorKind {
	return []ErrorKind{
		NoResult, Timeout, IdleTimeout, OutputExceeded, StartFailed, Killed,
		Lost, CaptureFailed, SchemaMismatch, Refused, Invalid, RateLimit,
		Overloaded, Quota, Auth, CauseBudget, CauseDependency, Conflict,
		CauseCancelled, CauseStopped, Other,
	}
}

// UnmarshalText refuses a kind that is not in the set.
func (k *ErrorKind) UnmarshalText(text []byte) error {
	for _, known := range Kinds() {
		if string(known) == string(text) {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("unknown error kind %q", text)
}

// Explain is a reason with its kind in front. The kind is left out where it adds
// nothing: [Other] is no kind, and some reasons begin with theirs.
func (k ErrorKind) Explain(reason string) string {
	switch {
	case reason == "":
		return string(k)
	case k == Other || strings.HasPrefix(reason, string(k)+" "):
		return reason
	default:
		return string(k) + ": " + reason
	}
}
