package builtin

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/builtin/model"
)

// fork goes on with a kept conversation. It sends the prefix and the messages
// as they were, so that the provider's cache of them counts. A fork with
// another prefix is refused, unless it may be cold.
func (a *agent) fork() error {
	s, err := openSession(a.o.Fork)
	if err != nil {
		return &InvalidError{"--fork: " + err.Error()}
	}
	why := a.colder(s)
	switch {
	case why != "" && !a.o.Cold:
		return &InvalidError{fmt.Sprintf("--fork %s: %s, so nothing of it would be cached; --cold continues anyway", a.o.Fork, why)}
	case why == "" && a.o.Role != "":
		return &InvalidError{"--system-file: a fork keeps what its parent was told"}
	}
	if why != "" {
		a.head.Parent, a.cold = s.ID, "the conversation continues without the cache: "+why
		a.conversation = unkept(s.messages)
		return nil
	}
	a.conversation = s.messages
	own := s.header
	own.ID, own.Parent = a.head.ID, s.ID
	if a.head.Contract != own.Contract && a.head.Contract != "" {
		a.conversation = append(a.conversation, model.Message{Role: model.User, Parts: []model.Part{&model.Note{Text: a.head.Contract}}})
	}
	if a.head.Part != own.Part && a.head.Part != "" {
		a.conversation = append(a.conversation, model.Message{Role: model.User, Parts: []model.Part{&model.Note{Text: a.head.Part}}})
	}
	own.Part = a.head.Part
	a.head, a.frozen = own, true
	return nil
}

// unkept are messages without the parts that an API gave for a single model to
// have back.
func unkept(all []model.Message) []model.Message {
	var out []model.Message
	for _, m := range all {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p model.Part) bool {
			_, kept := p.(*model.Kept)
			return kept
		})
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// colder says why the prefix of a conversation cannot be ours; empty: it can.
func (a *agent) colder(s *stored) string {
	spec := func(h *header) string { return roles.Spec{Provider: h.Provider, Model: h.Model}.String() }
	if was, is := spec(&s.header), spec(&a.head); was != is || s.API != a.head.API {
		return fmt.Sprintf("it is one of %s (%s), and this is %s (%s)", was, s.API, is, a.head.API)
	}
	if was, is := names(s.Tools), names(a.head.Tools); !slices.Equal(was, is) {
		return fmt.Sprintf("it has the tools %s, and this has %s", strings.Join(was, " "), strings.Join(is, " "))
	}
	return ""
}

func names(tools []model.Tool) []string {
	var all []string
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return all
}
