package task

// State is the state of an agent that has not ended. The zero value is none of
// them.
type State string

// The states of an agent that has not ended.
const (
	Queued       State = "queued"
	Working      State = "running"
	Waiting      State = "waiting"           // a question is open
	WaitingSlot  State = "waiting_for_slot"  // of its provider, memory or disk space
	WaitingQuota State = "waiting_for_quota" // until a quota window of its account opens
	WaitingCheck State = "waiting_for_check" // its work is captured, other checks run
	Checking     State = "checking"          // its check runs
)

// States lists every state, in the order in which an agent enters them.
func States() []State {
	return []State{Queued, WaitingQuota, WaitingSlot, Working, Waiting, WaitingCheck, Checking}
}

// Coarse is the state in the words that version 1 of the JSON objects began
// with: queued, running or waiting.
func (s State) Coarse() State {
	switch s {
	case WaitingSlot, WaitingQuota:
		return Queued
	case WaitingCheck, Checking:
		return Working
	case Queued, Working, Waiting:
		return s
	default:
		return s // a record of a later version
	}
}

// Waits reports whether an agent in this state waits for something beside its
// turn in the run.
func (s State) Waits() bool {
	return s == Waiting || s == WaitingSlot || s == WaitingQuota || s == WaitingCheck
}

// Text is the state for a person.
func (s State) Text() string {
	switch s {
	case Waiting:
		return "waiting for you"
	case WaitingSlot:
		return "waiting for a slot"
	case WaitingQuota:
		return "waiting for quota"
	case WaitingCheck:
		return "waiting for a check"
	case Queued, Working, Checking:
		return string(s)
	default:
		return string(s) // a record of a later version
	}
}

// Text is a status for a person: a state, or how the agent ended.
func Text(s Status) string {
	if r, ok := s.(*Running); ok {
		return r.State.Text()
	}
	return s.status()
}

// Selection is whether a script took the work of an agent. The zero value is that
// it made no choice.
type Selection string

// The selections of a script.
const (
	Selected   Selection = "chosen"
	PassedOver Selection = "not_chosen"
)
