package fleet

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"agentswarm/swarm/task"
)

// Suite are the cases that a script is tested by.
type Suite struct {
	Name  string // of the file
	Cases []*Case
}

// Case is a run of a script with its expected result.
type Case struct {
	Name    string
	Line    int             // where it begins
	Args    json.RawMessage // absent: args is undefined
	Code    string          // runs instead of the script; empty: the script does
	Budget  int64           // in tokens; 0 is none
	Agents  []*Agent
	Checks  []*Check
	Answers []*Answer
	Repo    Repo
	Expect  Expect
}

// Agent answers calls: those that it matches, in the order of the file, until
// it answered Times of them.
type Agent struct {
	Line  int
	Match Pattern // of the prompt
	Label Pattern // of the label
	Times int     // 0: any number
	Delay int64   // ticks from its start to its end
	Ending
	Files   map[string]string // the files that it writes, by path
	Removes []string
	Tokens  int64 // its usage
}

// Ending is the end of an agent: [*Reply], [*Structured] or [*Fail].
//
//sumtype:decl
type Ending interface{ ending() string }

// Reply is an answer in words.
type Reply struct{ Text string }

// Structured is an answer to a schema.
type Structured struct{ Value json.RawMessage }

// Fail is the end of an agent that does not complete.
type Fail struct {
	Kind    task.ErrorKind
	Message string
}

func (*Reply) ending() string      { return "reply" }
func (*Structured) ending() string { return "structured" }
func (*Fail) ending() string       { return "fail" }

// Check answers check(), and the verification of land().
type Check struct {
	Line     int
	Match    Pattern // of the name
	On       string  // base, merged, or the label or id of an agent; empty: any
	Times    int     // 0: any number
	Delay    int64
	OK       bool
	ExitCode int
	Stdout   string
	Stderr   string
}

// Answer is a person's answer to a question.
type Answer struct {
	Line  int
	Match Pattern
	Times int // 0: any number
	Delay int64
	Text  string
}

// Repo is the repository a script sees.
type Repo struct {
	Files   map[string]string
	Commits []Commit // the newest first
}

// Commit is a past commit of a repository.
type Commit struct {
	Subject string   `json:"subject"`
	Author  string   `json:"author"`
	Date    string   `json:"date"`
	Files   []string `json:"files"`
}

// Expect is the expected result of a case. Unset fields are not checked.
type Expect struct {
	Result    json.RawMessage // absent: anything, unless Throws says otherwise
	Throws    string          // the code of the error, or a part of its message
	Agents    *int            // that many are started
	MaxAgents *int            // at most that many
	Logs      []string        // parts of lines, in this order
}

// Pattern is a part of a text, or a regular expression between slashes. The
// zero value matches everything.
type Pattern struct {
	text string
	re   *regexp.Regexp
}

// ParsePattern reads a pattern.
func ParsePattern(s string) (Pattern, error) {
	if len(s) < 2 || s[0] != '/' || !strings.HasSuffix(s, "/") {
		return Pattern{text: s}, nil
	}
	re, err := regexp.Compile(s[1 : len(s)-1])
	if err != nil {
		return Pattern{}, fmt.Errorf("is not a regular expression: %w", err)
	}
	return Pattern{text: s, re: re}, nil
}

// Match reports whether a text matches.
func (p Pattern) Match(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	return strings.Contains(s, p.text)
}

// Is reports whether a whole name matches.
func (p Pattern) Is(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	return p.text == "" || p.text == s
}
