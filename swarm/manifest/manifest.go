// Package manifest owns the description of an agent's work for a reviewer: the
// changed files and lines, and the results of the harness's commands.
//
// It holds no content of a changed file, and its text is bounded for any
// change: a reviewer with tools for reading looks at the files itself. Only a
// command that prints files can show some of their content, in the end of its
// output. It compares nothing and runs nothing.
package manifest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentswarm/swarm/stage"
	"agentswarm/worktree/git"
)

// Manifest is the description for a reviewer.
type Manifest struct {
	Files []File `json:"files"`
	// Steps are the commands that were run, in order.
	Steps []Step `json:"steps"`
}

// File is a path that differs.
type File struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, deleted, changed or retyped
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
	// Lines are the places of its new text that differ, such as 3-9; the first
	// few.
	Lines []string `json:"lines,omitempty"`
}

// Step is a command that the harness ran on the work.
type Step struct {
	Name    string `json:"name"` // setup or verify
	Command string `json:"command"`
	OK      bool   `json:"ok"`
	Code    int    `json:"code"` // its exit status
	// Tail is the end of its output.
	Tail string `json:"tail,omitempty"`
}

// How much of each part is shown.
const (
	maxFiles = 40
	maxLines = 6
	// How many tokens a path, a command and the end of an output have.
	maxPath    = 64
	maxCommand = 40
	maxSaid    = 150
	// MaxTail bounds the kept output of a command, in bytes.
	MaxTail   = 800
	tailLines = 12
)

// Files are changes as a manifest has them.
func Files(changes []git.Outline) []File {
	files := make([]File, 0, len(changes))
	for _, c := range changes {
		f := File{Path: c.Path, Status: status(c.Status), Added: c.Added, Deleted: c.Deleted, Binary: c.Binary}
		for _, s := range c.Spans {
			if len(f.Lines) == maxLines {
				break
			}
			f.Lines = append(f.Lines, lines(s))
		}
		files = append(files, f)
	}
	return files
}

func status(letter byte) string {
	switch letter {
	case 'A':
		return "added"
	case 'D':
		return "deleted"
	case 'T':
		return "retyped"
	default:
		return "changed"
	}
}

func lines(s git.Span) string {
	switch s.Lines {
	case 0:
		return "behind " + strconv.Itoa(s.First)
	case 1:
		return strconv.Itoa(s.First)
	default:
		return fmt.Sprintf("%d-%d", s.First, s.First+s.Lines-1)
	}
}

// Text is the manifest as a reviewer reads it.
func (m *Manifest) Text() string {
	var b strings.Builder
	b.WriteString(m.changes())
	b.WriteString("\nRun by the harness on this work:\n")
	if len(m.Steps) == 0 {
		why := "no setup and no check is configured"
		if len(m.Files) == 0 {
			why = "no file changed"
		}
		b.WriteString("- nothing: " + why + "\n")
	}
	for _, s := range m.Steps {
		b.WriteString(s.text())
	}
	return b.String()
}

// changes are the files that differ, as a model reads them.
func (m *Manifest) changes() string {
	var b strings.Builder
	added, deleted := 0, 0
	for _, f := range m.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	fmt.Fprintf(&b, "Changed files: %d, +%d -%d lines\n", len(m.Files), added, deleted)
	for i, f := range m.Files {
		if i == maxFiles {
			fmt.Fprintf(&b, "- and %d more\n", len(m.Files)-i)
			break
		}
		b.WriteString(f.text())
	}
	return b.String()
}

func (f File) text() string {
	size := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
	if f.Binary {
		size = "binary"
	}
	text := fmt.Sprintf("- %s (%s, %s", name(f.Path), f.Status, size)
	if f.Status == "changed" && len(f.Lines) > 0 {
		text += "; lines " + strings.Join(f.Lines, ", ")
		if len(f.Lines) == maxLines {
			text += ", …"
		}
	}
	return text + ")\n"
}

func (s Step) text() string {
	outcome := "ok"
	if !s.OK {
		outcome = fmt.Sprintf("failed, exit status %d", s.Code)
	}
	text := fmt.Sprintf("- %s: %s: %s\n", s.Name, stage.Head(oneLine(s.Command), maxCommand), outcome)
	for line := range strings.SplitSeq(stage.Tail(s.Tail, maxSaid), "\n") {
		if line != "" {
			text += "    " + line + "\n"
		}
	}
	return text
}

// Tail is the readable end of an output: its last lines, without control
// characters for a terminal.
func Tail(output string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(output, "\uFFFD"))
	all := strings.Split(strings.TrimSpace(clean), "\n")
	text := strings.Join(all[max(0, len(all)-tailLines):], "\n")
	if len(text) <= MaxTail {
		return text
	}
	text = text[len(text)-MaxTail:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "…" + text
}

// name is a path on a single line. Of a long path both ends are left.
func name(path string) string { return stage.Middle(stage.Line(path), maxPath) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Verdict is the answer of a reviewer.
type Verdict struct {
	Pass     bool      `json:"pass"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is something that speaks against the work.
type Problem struct {
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem"`
}

// String is the problem on a single line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Problem
	}
	return p.Path + ": " + p.Problem
}

// Read is the verdict that a structured answer is. A work with a problem has
// not passed, whatever else the answer says.
func Read(answer json.RawMessage) (Verdict, error) {
	var v Verdict
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("read a verdict: %w", err)
	}
	v.Pass = v.Pass && len(v.Problems) == 0
	return v, nil
}
