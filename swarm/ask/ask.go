// Package ask owns the protocol of the ask socket, by which an agent's actions
// are judged: the requests, the answers, and the asking end. Package ear is the
// answering end.
//
// It decides nothing. It does without package net, whose initialisation takes
// longer than a question: the asking process is mostly started for a single
// question.
package ask

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Variable names the socket in the environment of an agent: the address of
// [Address].
const Variable = "SWARM_ASK"

// Address is the address for an agent's questions: a socket, and the secret
// that only this agent gets. Siblings may be able to connect, and must not ask
// in its name.
func Address(path, secret string) string { return path + ":" + secret }

// Path is the socket of an address.
func Path(address string) string {
	path, _ := split(address)
	return path
}

func split(address string) (path, secret string) {
	if at := strings.LastIndexByte(address, ':'); at > strings.LastIndexByte(address, '/') {
		return address[:at], address[at+1:]
	}
	return address, ""
}

// MaxRequest bounds a request, in bytes: a whole file may be in it.
const MaxRequest = 4 << 20

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// Action is a single action that an agent wants to take. Exactly one of
// Command, Write, Git and Tool is set.
type Action struct {
	Command string   `json:"command,omitempty"` // text for a shell
	Write   string   `json:"write,omitempty"`   // the path of a file
	Removes bool     `json:"removes,omitempty"` // with Write: the file goes
	Git     []string `json:"git,omitempty"`     // arguments of git
	Tool    string   `json:"tool,omitempty"`    // any other tool, by its name
	Target  string   `json:"target,omitempty"`  // with Tool: a URL
	Method  string   `json:"method,omitempty"`  // with Tool: of a request
	Cwd     string   `json:"cwd,omitempty"`     // where; empty: the workspace
}

// Whole reports whether an action is valid: it names a single action, and has
// no field that belongs to another.
func (a *Action) Whole() bool {
	set := 0
	for _, is := range []bool{a.Command != "", a.Write != "", len(a.Git) > 0, a.Tool != ""} {
		if is {
			set++
		}
	}
	return set == 1 && (a.Tool != "" || a.Target+a.Method == "") && (a.Write != "" || !a.Removes)
}

// Request asks whether all of some actions may be.
type Request struct {
	Actions []Action `json:"actions"`
	// Guard says that a guard asks: an action may begin that a person has just
	// allowed the agent to begin.
	Guard bool `json:"guard,omitempty"`
	// Secret is that of the address, which [Ask] and [Once] fill in.
	Secret string `json:"secret,omitempty"`
}

// Answer says whether they may.
type Answer struct {
	Allow   bool   `json:"allow"`
	Reason  string `json:"reason,omitempty"`  // of a refusal
	Instead string `json:"instead,omitempty"` // another way to reach the aim
}

// Ask sends a request, and waits for the answer without a deadline. It returns
// an error if no answer comes. Once ctx has ended it sends nothing.
func Ask(ctx context.Context, address string, r Request) (*Answer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	socket, secret := split(address)
	r.Secret = secret
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	conn, err := dial(socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	return exchange(conn, text)
}

// Once asks as a guard about a single action, in a process that does nothing
// else and receives only signals. It returns an error if the action is too long
// or no answer comes.
func Once(address string, a Action) (*Answer, error) {
	socket, secret := split(address)
	text, err := Request{Actions: []Action{a}, Guard: true, Secret: secret}.text()
	if err != nil {
		return nil, err
	}
	conn, err := dial(socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return exchange(conn, text)
}

// text is a request as it is said.
func (r Request) text() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxRequest {
		return nil, fmt.Errorf("the actions take %d bytes, and the limit is %d", len(text), MaxRequest)
	}
	return append(text, '\n'), nil
}

// dial connects to a socket. Its end is a file whose deadlines work.
func dial(socket string) (*os.File, error) {
	fail := func(err error) (*os.File, error) { return nil, &os.PathError{Op: "connect", Path: socket, Err: err} }
	syscall.ForkLock.RLock() // processes started meanwhile do not inherit it
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return fail(err)
	}
	err = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: socket})
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return fail(errors.Join(err, unix.Close(fd)))
	}
	return os.NewFile(uintptr(fd), socket), nil
}

// exchange sends a request, and waits for the answer. A crowded end may send
// its refusal and hang up before it reads the request: its words are read all
// the same.
func exchange(conn *os.File, text []byte) (*Answer, error) {
	_, unsaid := conn.Write(text)
	line, err := bufio.NewReaderSize(conn, maxAnswer).ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", cmp.Or(unsaid, err))
	}
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("no answer that can be read: %w", err)
	}
	return &a, nil
}
