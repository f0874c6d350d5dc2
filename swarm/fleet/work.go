package fleet

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/script"
)

// mainBranch is the branch that is checked out.
const mainBranch = "refs/heads/main"

// check answers a check of the script.
func (h *Host) check(n int, r *script.Check) error {
	if _, err := h.store.at(r.On); err != nil {
		h.refuse(n, err)
		return nil
	}
	name := r.Name
	if len(r.Argv) > 0 {
		name = strings.Join(r.Argv, " ")
	}
	says := h.says(name, r.On)
	if says == nil {
		return h.missing("check", fmt.Sprintf("%s on %s", brief(name), h.place(r.On)[0]))
	}
	h.value(n, says.Delay, says.result())
	return nil
}

// says is the entry that answers a check; nil where there is none.
func (h *Host) says(name, on string) *Check {
	places := h.place(on)
	for _, c := range h.c.Checks {
		if c.Match.Match(name) && (c.On == "" || slices.Contains(places, c.On)) && h.take(c, c.Times) {
			return c
		}
	}
	return nil
}

// place lists the words for the tree that a check runs on.
func (h *Host) place(on string) []string {
	if on == "" || on == "base" || on == h.store.base {
		return []string{"base"}
	}
	c := h.store.changes[on]
	if c == nil {
		return []string{"merged"}
	}
	at := slices.IndexFunc(h.agents, func(a *live) bool { return a.id == c.agent })
	return []string{c.agent, h.agents[at].call.Label}
}

func (c *Check) result() *script.CheckResult {
	return &script.CheckResult{OK: c.OK, ExitCode: c.ExitCode, Stdout: c.Stdout, Stderr: c.Stderr}
}

// refuse answers a request with an error that the script sees.
func (h *Host) refuse(n int, err error) {
	e, ok := err.(*script.Error) // made here, and never wrapped
	if !ok {
		e = &script.Error{Name: "Error", Message: err.Error()}
	}
	h.answer(n, 0, func() script.Delivery { return script.Delivery{Error: e} })
}

// land moves a branch to the merge of all the patches, or not at all.
func (h *Host) land(n int, r *script.Land) error {
	if err := h.landable(r.Patches); err != nil {
		h.refuse(n, err)
		return nil
	}
	ref := r.Into
	switch {
	case ref == "":
		ref = mainBranch
	case !strings.HasPrefix(ref, "refs/"):
		ref = "refs/heads/" + ref
	}
	tip := h.tips[ref]
	if tip == "" {
		tip = h.store.base
	}
	m, err := h.store.merge(tip, r.Patches)
	if err != nil {
		h.refuse(n, err)
		return nil
	}
	l := &script.Landing{Ref: ref, Applied: []string{}, Conflicts: m.Conflicts}
	delay := int64(0)
	switch {
	case len(m.Conflicts) > 0:
		l.Reason = "patches conflict"
	case m.Tree == tip:
		l.Reason = strings.TrimPrefix(ref, "refs/heads/") + " holds all of it already"
	case r.Verify == "":
		l.Landed = true
	default:
		says := h.says(r.Verify, m.Tree)
		if says == nil {
			return h.missing("check", brief(r.Verify)+" on merged, which a landing is verified by")
		}
		delay, l.Landed, l.Verified = says.Delay, says.OK, &says.OK
		if !says.OK {
			l.Reason = fmt.Sprintf("check %s failed: exit status %d", r.Verify, says.ExitCode)
		}
	}
	if l.Landed {
		l.Applied, l.Commit, h.tips[ref] = m.Applied, m.Tree, m.Tree
	}
	h.value(n, delay, l)
	return nil
}

// landable refuses a landing without a possible effect.
func (h *Host) landable(patches []string) error {
	if len(patches) == 0 {
		return &script.Error{Name: "TypeError", Code: script.CodeOption, Message: "land: no patches are given"}
	}
	seen := map[string]bool{}
	for _, p := range patches {
		c := h.store.changes[p]
		if c == nil {
			continue // it is told when they are merged
		}
		if seen[c.agent] {
			return &script.Error{
				Name: "TypeError", Code: script.CodeOption,
				Message: fmt.Sprintf("land: two patches of %s are named, and each holds all of its work", c.agent),
			}
		}
		seen[c.agent] = true
	}
	return nil
}

// question is answered by a person, or by its default once its time is over.
func (h *Host) question(n int, r *script.Question) error {
	for _, a := range h.c.Answers {
		if !a.Match.Match(r.Text) || !h.take(a, a.Times) {
			continue
		}
		if r.MS > 0 && a.Delay > r.MS {
			break
		}
		if len(r.Choices) > 0 && !slices.Contains(r.Choices, a.Text) {
			return h.fail(fmt.Errorf("the answer of line %d, %q, is none of %s", a.Line, a.Text, strings.Join(r.Choices, ", ")))
		}
		h.value(n, a.Delay, a.Text)
		return nil
	}
	switch {
	case r.MS == 0:
		return h.missing("answer", brief(r.Text))
	case r.Default != nil:
		h.value(n, r.MS, *r.Default)
	default:
		h.answer(n, r.MS, func() script.Delivery {
			return script.Delivery{Error: &script.Error{
				Name: "Error", Code: script.CodeTimeout, Message: fmt.Sprintf("no answer came within %d ms", r.MS),
			}}
		})
	}
	return nil
}
