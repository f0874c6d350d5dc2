package engine

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// explain completes the reason of a failure for a person: a program that is too
// old for its options is named with its version, and paths are those outside of
// the sandbox. unfit is set where no other attempt would start either.
func (t *attempt) explain(ctx context.Context, failed *task.Failed, o *agent.Outcome) (unfit bool) {
	if line := t.unknownOption(failed, o); line != "" {
		failed.Kind = task.StartFailed
		failed.Reason = t.needs(ctx) + ": " + line
		unfit = true
	}
	failed.Reason = t.outside(failed.Reason)
	return unfit
}

var optionErrors = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|unsupported|no such) (?:option|argument|flag|subcommand|command)s?\b|` +
		`\b(?:flag|option) provided but not defined\b|\bno such option\b`)
})

// unknownOption is the line of stderr by which the program of a kind refuses an
// option that it was started with; empty where it failed in another way. Such a
// program ends before it says anything else.
func (t *attempt) unknownOption(failed *task.Failed, o *agent.Outcome) string {
	began := o.Worked || o.Session != "" || o.Answer != nil || o.Error != nil
	if failed.Kind != task.Other || t.kind() == nil || began || o.Exit.Reason != proc.Exited || o.Exit.Code == 0 {
		return ""
	}
	for line := range strings.Lines(string(lastBytes(t.file("stderr"), stumbleTail))) {
		if line = strings.TrimSpace(line); optionErrors().MatchString(line) {
			return head(strings.ToValidUTF8(line, "\uFFFD"), 300)
		}
	}
	return ""
}

// needs says which version the program of the agent is, and which is needed.
func (t *attempt) needs(ctx context.Context) string {
	kind := t.kind()
	version := ""
	if ask := t.engine.deps.Version; ask != nil {
		version = ask(ctx, t.spec)
	}
	return "your " + kind.Name + " is " + cmp.Or(version, "of an unknown version") + "; needs " + cmp.Or(kind.Version.Oldest, "another")
}

// outside returns a text of a process of the attempt for people, who are outside
// of its sandbox.
func (t *attempt) outside(text string) string {
	if t.around.Outside == nil {
		return text
	}
	return t.around.Outside(text)
}
