package config

import (
	"errors"
	"fmt"
	"strconv"
)

// Input says how an agent gets its prompt.
type Input uint8

// The ways of giving a prompt.
const (
	InputUnset Input = iota
	InputStdin       // on stdin, then end of file
	InputArg         // in the command, at {prompt} or {prompt_file}
	InputNone        // not at all
	InputJSONL       // as a message on a stdin that stays open
)

// String is the word for the input.
func (i Input) String() string {
	switch i {
	case InputStdin:
		return "stdin"
	case InputArg:
		return "arg"
	case InputNone:
		return "none"
	case InputJSONL:
		return "jsonl"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset input.
func (i *Input) UnmarshalText(text []byte) (err error) {
	*i, err = parseWord(string(text), InputStdin, InputArg, InputNone, InputJSONL)
	return err
}

// Format is the form of an agent's stdout.
type Format uint8

// The formats of stdout.
const (
	FormatUnset Format = iota
	FormatText         // all of it is the answer
	FormatJSONL        // an event on each line
)

// String is the word for the format.
func (f Format) String() string {
	switch f {
	case FormatText:
		return "text"
	case FormatJSONL:
		return "jsonl"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset format.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = parseWord(string(text), FormatText, FormatJSONL)
	return err
}

// Success is the condition under which an ended agent counts as completed.
type Success uint8

// The rules of success.
const (
	SuccessUnset  Success = iota
	SuccessExit           // exit code 0
	SuccessAnswer         // exit code 0, and an answer or a change
)

// String is the word for the rule.
func (s Success) String() string {
	switch s {
	case SuccessExit:
		return "exit"
	case SuccessAnswer:
		return "answer"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset rule.
func (s *Success) UnmarshalText(text []byte) (err error) {
	*s, err = parseWord(string(text), SuccessExit, SuccessAnswer)
	return err
}

// Questions decides about an agent that asks a question.
type Questions uint8

// The ways with questions.
const (
	QuestionsUnset Questions = iota
	QuestionsWait            // the agent waits for an answer
	QuestionsDeny            // it is told no at once
)

// String is the word for the way.
func (q Questions) String() string {
	switch q {
	case QuestionsWait:
		return "wait"
	case QuestionsDeny:
		return "deny"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset way.
func (q *Questions) UnmarshalText(text []byte) (err error) {
	*q, err = parseWord(string(text), QuestionsWait, QuestionsDeny)
	return err
}

// Overlap decides about tasks that may touch the same files.
type Overlap uint8

// The ways with tasks that overlap.
const (
	OverlapUnset     Overlap = iota
	OverlapWarn              // they are named before the start
	OverlapSerialize         // the later task starts when the earlier task has ended
	OverlapRefuse            // nothing starts
)

// String is the word for the way.
func (o Overlap) String() string {
	switch o {
	case OverlapWarn:
		return "warn"
	case OverlapSerialize:
		return "serialize"
	case OverlapRefuse:
		return "refuse"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset way.
func (o *Overlap) UnmarshalText(text []byte) (err error) {
	*o, err = parseWord(string(text), OverlapWarn, OverlapSerialize, OverlapRefuse)
	return err
}

// Sandbox is the mode of the sandbox around agents.
type Sandbox uint8

// The modes with a sandbox.
const (
	SandboxUnset   Sandbox = iota
	SandboxAuto            // the best that the machine gives
	SandboxRequire         // namespaces, or nothing starts
	SandboxOff             // agents may write wherever their user may
)

// String is the word for the way.
func (s Sandbox) String() string {
	switch s {
	case SandboxAuto:
		return "auto"
	case SandboxRequire:
		return "require"
	case SandboxOff:
		return "off"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset way.
func (s *Sandbox) UnmarshalText(text []byte) (err error) {
	*s, err = parseWord(string(text), SandboxAuto, SandboxRequire, SandboxOff)
	return err
}

// Confined decides about a destructive action on the agent's own files inside a
// sandbox.
type Confined uint8

// The ways with confined actions.
const (
	ConfinedUnset    Confined = iota
	ConfinedAsk               // a person is asked
	ConfinedSnapshot          // it proceeds, once the workspace is captured
)

// String is the word for the way.
func (c Confined) String() string {
	switch c {
	case ConfinedAsk:
		return "ask"
	case ConfinedSnapshot:
		return "snapshot"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset way.
func (c *Confined) UnmarshalText(text []byte) (err error) {
	*c, err = parseWord(string(text), ConfinedAsk, ConfinedSnapshot)
	return err
}

// Backend says how workspaces are made.
type Backend uint8

// The ways of making workspaces.
const (
	BackendUnset    Backend = iota
	BackendAuto             // the cheapest that works
	BackendOverlay          // a shared checkout, with the changes in a layer of their own
	BackendReflink          // a clone of a shared checkout
	BackendCopy             // a copy of a shared checkout
	BackendWorktree         // a linked worktree
)

// String is the word for the way.
func (b Backend) String() string {
	switch b {
	case BackendAuto:
		return "auto"
	case BackendOverlay:
		return "overlay"
	case BackendReflink:
		return "reflink"
	case BackendCopy:
		return "copy"
	case BackendWorktree:
		return "worktree"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset way.
func (b *Backend) UnmarshalText(text []byte) (err error) {
	*b, err = parseWord(string(text), BackendAuto, BackendOverlay, BackendReflink, BackendCopy, BackendWorktree)
	return err
}

// parseWord finds the value that prints as the text.
func parseWord[T fmt.Stringer](text string, all ...T) (T, error) {
	var words []string
	for _, value := range all {
		if value.String() == text {
			return value, nil
		}
		words = append(words, value.String())
	}
	var unset T
	return unset, errors.New("expected " + quotedList(words, "or") +
		", got " + strconv.Quote(clip(text)) + didYouMean(text, words))
}
