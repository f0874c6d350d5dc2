package landing

import (
	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// ReturnOf is why a merge handed the patch of an agent back, if the latest attempt answers
// that; nil otherwise.
func ReturnOf(a *store.Agent) *event.HandedBack {
	if r := a.Retry; r != nil && a.Copy == 0 && a.Attempt > r.After {
		return r.HandedBack
	}
	return nil
}

// ResolutionOf is the conflict that the work of an agent resolves; nil: it was handed back
// for none.
func ResolutionOf(a *store.Agent) *merge.Resolution {
	back := ReturnOf(a)
	if back == nil || back.Patch == nil {
		return nil
	}
	r := &merge.Resolution{Patch: git.Hash(back.Patch.Commit)}
	for _, h := range back.Hunks {
		r.Hunks = append(r.Hunks, merge.Hunk{
			Path: h.Path, OursStart: h.OursStart, OursLines: h.OursLines, TheirsStart: h.TheirsStart, TheirsLines: h.TheirsLines,
		})
	}
	return r
}

// MarkersOf are the conflict markers that the work of an agent began with; nil: there are
// none, or a person changed the work since.
func MarkersOf(a *store.Agent) *merge.Markers {
	m := a.Markers
	if m == nil || a.Copy > 0 || a.Retry == nil || a.Attempt <= a.Retry.After {
		return nil
	}
	out := &merge.Markers{Labels: merge.Labels{Ours: m.Ours, Base: m.Base, Theirs: m.Theirs}}
	for _, f := range m.Files {
		out.Files = append(out.Files, merge.MarkedFile{Path: f.Path, Separators: f.Separators})
	}
	return out
}

// ResolvedText names the refusal that the work of an agent resolves, such as "text with
// a7"; empty: it was handed back for none.
func ResolvedText(a *store.Agent) string {
	back := ReturnOf(a)
	if back == nil {
		return ""
	}
	text := back.Kind
	if len(back.With) > 0 {
		text += " with " + listed(back.With)
	}
	return text
}

// OriginOf is the commit that the work of an agent began from, if a later attempt stands
// on another commit. Lines that landed in between are not the agent's to take back. It is
// empty if no rule asks for it: the work was begun anew, a person changed it in a copy,
// or a person has accepted it.
func OriginOf(a *store.Agent) git.Hash {
	p := a.Patch()
	if p == nil || a.Copy > 0 || a.Accepted() || len(a.Earlier) == 0 {
		return ""
	}
	if r := a.Retry; r != nil && r.Fresh && a.Attempt > r.After && ReturnOf(a) == nil {
		return ""
	}
	first := a.Earlier[0].Patch
	if first == nil || first.Base == p.Base {
		return ""
	}
	return git.Hash(first.Base)
}
