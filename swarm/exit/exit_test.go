package exit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/refusal"
	"agentswarm/worktree/git"
)

// foreign is an error of another package: it knows the small interfaces only.
type foreign struct {
	code       int
	hint, kind string
}

func (foreign) Error() string    { return "foreign trouble" }
func (f foreign) ExitCode() int  { return f.code }
func (f foreign) Hint() string   { return f.hint }
func (f *foreign) Kind() string  { return f.kind }
func wrap2(a, b error) error     { return fmt.Errorf("both: %w and %w", a, b) }
func under(err error) error      { return fmt.Errorf("do it: %w", err) }
func coded(c Code) error         { return &Error{Code: c, Err: errors.New("x")} }
func silentExit(c Code) *Error   { return &Error{Code: c} }
func sig(s syscall.Signal) error { return &SignalError{Signal: s} }

func TestCodeOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give error
		want Code
	}{
		{"nil", nil, 0},
		{"plain", errors.New("x"), 1},
		{"wrapped plain", under(fs.ErrPermission), 1},
		{"cancelled", context.Canceled, 1},
		{"usage", Usagef("x"), 2},
		{"wrapped usage", under(under(Usagef("x"))), 2},
		{"a refused request of a landing", under(refusal.New("x")), 2},
		{"no patch to merge", under(&lander.NothingError{Reason: "x"}), 2},
		{"a branch in the way", errors.Join(&lander.BlockedError{Err: errors.New("x")}, errors.New("y")), 2},
		{"a patch that does not fit", under(&lander.MisfitError{Err: &git.PatchError{}}), 4},
		{"degraded", silentExit(Degraded), 3},
		{"no code", &Error{}, 1},
		{"unknown code", coded(99), 1},
		{"unknown code around a known one", &Error{Code: 99, Err: Usagef("x")}, 2},
		{"outermost wins", &Error{Code: Approval, Err: Usagef("x")}, 5},
		{"interrupt", under(sig(syscall.SIGINT)), 130},
		{"terminate", sig(syscall.SIGTERM), 143},
		{"hang up", sig(syscall.SIGHUP), 143},
		{"foreign", under(&foreign{code: 6}), 6},
		{"foreign unknown", foreign{code: 77}, 1},
		{"urfave", cli.Exit("x", 4), 4},
		{"joined", errors.Join(silentExit(Conflict), silentExit(Degraded)), 3},
		{"joined with plain", errors.Join(silentExit(Degraded), errors.New("x")), 1},
		{"two wrapped", wrap2(coded(Verify), under(coded(Script))), 8},
		{"child", under(&exec.ExitError{ProcessState: new(os.ProcessState)}), 1},
	}
	for _, tt := range tests {
		if got := CodeOf(tt.give); got != tt.want {
			t.Errorf("%s: codeOf(%v) = %d, want %d", tt.name, tt.give, got, tt.want)
		}
	}
}

// child is an error as os/exec reports it, with a code that would mean
// something here.
type child struct{ foreign }

func (child) Pid() int { return 1 }

func TestCodeOfChild(t *testing.T) {
	t.Parallel()
	if got := CodeOf(under(child{foreign{code: 2}})); got != Failed {
		t.Errorf("codeOf(exit status of a child) = %d, want %d", got, Failed)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	order := []Code{2, 1, 130, 143, 6, 124, 8, 5, 3, 7, 4}
	for i, c := range order {
		if got := First(append([]Code{0, 99}, backwards(order[i:])...)...); got != c {
			t.Errorf("First(%v) = %d, want %d", backwards(order[i:]), got, c)
		}
	}
	if got := First(); got != OK {
		t.Errorf("First() = %d, want 0", got)
	}
}

func backwards(codes []Code) []Code {
	var out []Code
	for i := len(codes) - 1; i >= 0; i-- {
		out = append(out, codes[i])
	}
	return out
}

func TestErrorWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give       error
		kind, hint string
		silent     bool
	}{
		{errors.New("x"), "other", "", false},
		{&UsageError{Text: "x", Advice: "y"}, "invalid", "y", false},
		{coded(Approval), "refused", "", false},
		{coded(Paused), "budget", "", false},
		{coded(Timeout), "timeout", "", false},
		{sig(syscall.SIGINT), "stopped", "", false},
		{under(&foreign{kind: "quota", hint: "wait"}), "quota", "wait", false},
		{&Error{Code: Usage, Err: &foreign{hint: "wait"}}, "invalid", "wait", false},
		{silentExit(Degraded), "other", "", true},
		{under(silentExit(Degraded)), "other", "", false},
		{&Error{}, "other", "", true},
	}
	for _, tt := range tests {
		if k, h, s := KindOf(tt.give), HintOf(tt.give), Silent(tt.give); k != tt.kind ||
			h != tt.hint || s != tt.silent {
			t.Errorf("%v: kind %q, hint %q, silent %v; want %q, %q, %v",
				tt.give, k, h, s, tt.kind, tt.hint, tt.silent)
		}
	}
	if got := sig(syscall.SIGTERM).Error(); got != "stopped by SIGTERM" {
		t.Errorf("SignalError = %q", got)
	}
}
