// Package attest writes the check of a landing as an in-toto Statement, and reads it from
// the notes of commits. It runs no check and moves no branch.
package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"agentswarm/worktree/git"
)

// Ref holds the notes with statements.
const Ref = "refs/notes/swarm/attestations"

// The types of the statement and of its predicate.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://in-toto.io/attestation/test-result/v0.1"
)

// Statement is an in-toto Statement, version 1.
type Statement struct {
	Type          string     `json:"_type"`
	Subject       []Resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     Predicate  `json:"predicate"`
}

// Resource is a thing with its digests, by algorithm.
type Resource struct {
	Name   string            `json:"name,omitempty"`
	Digest map[string]string `json:"digest"`
}

// Predicate is a test result, version 0.1.
type Predicate struct {
	Result        string     `json:"result"` // PASSED
	Configuration []Resource `json:"configuration"`
	URL           string     `json:"url,omitempty"` // of the output
}

// Landing is a landing that was verified.
type Landing struct {
	Commits []git.Hash // that landed, in order; required
	Tree    git.Hash   // that passed the check; required
	Command string     // text of the check; required
	Setup   string     // text of the setup; empty: there was none
	Output  string     // file with the output of the check; empty: not known
}

// NewStatement returns the statement about a landing: that the check passed on its tree. The commits
// are those that make the tree; no claim is made for each of them alone.
func NewStatement(l Landing) Statement {
	s := Statement{
		Type: StatementType, PredicateType: PredicateType,
		Predicate: Predicate{Result: "PASSED", Configuration: []Resource{text("command", l.Command)}},
	}
	if l.Setup != "" {
		s.Predicate.Configuration = append(s.Predicate.Configuration, text("setup", l.Setup))
	}
	if l.Output != "" {
		s.Predicate.URL = "file://" + l.Output
	}
	s.Subject = append(s.Subject, Resource{Name: "tree", Digest: map[string]string{"gitTree": string(l.Tree)}})
	for _, c := range l.Commits {
		s.Subject = append(s.Subject, Resource{Digest: map[string]string{"gitCommit": string(c)}})
	}
	return s
}

// text is a text of the configuration by its digest.
func text(name, content string) Resource {
	sum := sha256.Sum256([]byte(content))
	return Resource{Name: name, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}
}

// Encode is the statement as a note has it.
func (s Statement) Encode() ([]byte, error) {
	out, err := json.MarshalIndent(s, "", "  ")
	return append(out, '\n'), err
}

// Read reads a note. The error says why it is no such statement.
func Read(note []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(note, &s); err != nil {
		return s, fmt.Errorf("read attestation: %w", err)
	}
	if s.Type != StatementType || s.PredicateType != PredicateType {
		return s, fmt.Errorf("read attestation: type %q with %q; want %q with %q", s.Type, s.PredicateType, StatementType, PredicateType)
	}
	return s, nil
}
