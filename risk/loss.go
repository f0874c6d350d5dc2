package risk

import (
	"path"
	"slices"
	"strings"
)

// Loss is a file that an action deletes or overwrites, or a folder that it
// deletes. Most losses are SAFE.
type Loss struct {
	// Path is a pattern of [path.Match], in which "*" may stand for the rest of
	// a name that is not known. It begins at the top of the work tree, which is
	// ".", and is absolute outside of it.
	Path string
	// Overwrites says that other content takes the place of the file's, and
	// Edits that its content is changed in place.
	Overwrites, Edits bool
	// Untracked says that only files at the path are lost that git does not have.
	Untracked bool
	// Judged says that the tier of the action comes from this loss, and is
	// HARD_TO_REVERSE or DESTRUCTIVE.
	Judged bool

	target target
	call   Part // the fields about its call that a part has
}

// losses are the files that a call deletes or overwrites, as far as they are
// known.
func (c *call) losses() []Loss {
	var all []Loss
	targets := slices.Concat(c.targets, c.possible())
	for _, t := range targets {
		if other, ok := c.text.links.hard[t.path]; ok && t.kind == writes && !t.edits && !t.linked {
			t.path = other // the same file
			targets = append(targets, t)
		}
	}
	for _, t := range targets {
		if t.path == "" && t.through != nil {
			judged := t.judged
			t = *t.through
			t.judged = judged
		}
		if t.kind != removes && t.kind != writes || t.path == "" || t.remote || isStream(t.path) {
			continue
		}
		all = append(all, Loss{
			Path: t.text(c.place), Overwrites: t.kind == writes, Edits: t.edits, Untracked: t.untracked,
			Judged: t.judged, target: t,
			call: Part{Argv: c.words(), Via: slices.Clone(c.inv.Via), Span: c.inv.Span, Plain: c.plain()},
		})
	}
	return all
}

// blame marks the targets of a rule: those that it matched, or all of the call
// if the rule judges files.
func (c *call) blame(one *rule, hits []*target) {
	if one.Tier < HardToReverse {
		return
	}
	for _, t := range hits {
		t.judged = true
	}
	if len(hits) == 0 && slices.Contains([]string{"targets", "paths", "changes", "tree"}, one.Within) {
		for i := range c.targets {
			c.targets[i].judged = true
		}
	}
}

// text is a target as the path of a [Loss].
func (t *target) text(p *Place) string {
	text := literal(t.path)
	if rest, ok := p.below(t.path); ok {
		text = literal(rest)
	}
	if !t.partial {
		return relative(text)
	}
	name := literal(t.name) + "*" // the rest is not known
	if at := strings.IndexAny(t.pattern, "*?[{"); at >= 0 {
		name = t.pattern[strings.LastIndexByte(t.pattern[:at], '/')+1:]
	}
	return relative(path.Join(text, name))
}

// relative is a path that is not empty.
func relative(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// literal is a pattern that only means the name itself.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(name)
}

// isPattern reports whether a part of a path stands for several names.
func isPattern(part string) bool { return prefixOf(part) != part }

// prefixOf is the part of a pattern before its first sign for other letters.
func prefixOf(part string) string {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return part[:i]
		}
	}
	return part
}

// mayBeName reports whether two parts of paths may mean the same name. Only a
// pattern that begins with a dot means names that do.
func mayBeName(a, b string) bool {
	if a == b {
		return true
	}
	if isPattern(b) {
		a, b = b, a
	}
	if !isPattern(a) {
		return false
	}
	first, other := prefixOf(a), prefixOf(b)
	if strings.HasPrefix(b, ".") && first == "" && !strings.HasPrefix(a, "[") && !strings.HasPrefix(a, "{") {
		return false
	}
	if isPattern(b) || strings.Contains(a, "{") {
		return strings.HasPrefix(first, other) || strings.HasPrefix(other, first)
	}
	fits, err := path.Match(a, unescaped(b))
	return fits || err != nil
}

// unescaped is the name that a literal pattern means.
func unescaped(part string) string {
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' && i+1 < len(part) {
			i++
		}
		b.WriteByte(part[i])
	}
	return b.String()
}

// reach reports whether a path lies at or below another path, or may, and
// whether it lies above.
func reach(of, p string) (below, above bool) {
	if path.IsAbs(of) != path.IsAbs(p) {
		return false, false
	}
	a, b := elements(of), elements(p)
	for i := range min(len(a), len(b)) {
		if !mayBeName(a[i], b[i]) {
			return false, false
		}
	}
	return len(b) >= len(a), len(b) < len(a)
}

// elements are the names in a path; none for the top.
func elements(p string) []string {
	if p = strings.Trim(p, "/"); p == "." || p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
