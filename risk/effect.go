package risk

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// changes returns the files that a call changes according to its words.
func (c *call) changes() []target {
	var all []target
	for _, e := range c.rules.effects[c.inv.Program] {
		if !c.has(e) {
			continue
		}
		for kind, places := range map[change][]string{writes: e.Write, appends: e.Append, creates: e.Create, removes: e.Remove} {
			for _, where := range places {
				found := c.at(where, kind)
				for i := range found {
					found[i].edits = e.Edit && kind == writes
				}
				all = append(all, found...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b target) int { return strings.Compare(string(a.kind), string(b.kind)) })
	return all
}

// has reports whether a call has the effect.
func (c *call) has(e *effect) bool {
	m := &e.match
	return within(e.subs, c.line.Sub) && (len(m.Flags) == 0 || c.flag(m.Flags, m.Sure)) &&
		(len(m.With) == 0 || c.flag(m.With, m.Sure)) && (len(m.Without) == 0 || !c.line.Has(m.Without...)) && c.passes(m.When)
}

// wrong returns the fault of an effect.
func (e *effect) wrong() string {
	may := slices.Concat(e.MayWrite, e.MayRemove)
	if len(e.Program) == 0 || len(e.Write)+len(e.Append)+len(e.Create)+len(e.Remove)+len(may) == 0 {
		return "an effect names programs, and what they change"
	}
	for _, where := range may {
		if !isPossiblePlace(where) {
			return fmt.Sprintf("%q is not a place in a command line", where)
		}
	}
	for _, where := range slices.Concat(e.Write, e.Append, e.Create, e.Remove) {
		if !slices.Contains([]string{"operands", "cleaned", "first", "last", "but-first", "but-last", "into"}, where) &&
			!strings.HasPrefix(strings.TrimPrefix(where, "into "), "-") && !strings.HasSuffix(where, "=") {
			return fmt.Sprintf("%q is not a place in a command line", where)
		}
	}
	return ""
}

// at returns the files at a place that an effect names:
//
//	"operands", "first", "last", "but-first", "but-last": of the operands
//	"cleaned": the files that git does not have below the operands, or below
//	the folder where there are none
//	"into": the last operand, or the file of each other one's name in it
//	"--option": its values
//	"into --option": the files of the operands' names in it
//	"of=": operands that begin so, without that
func (c *call) at(where string, kind change) []target {
	operands := c.line.Operands
	switch {
	case where == "operands":
		return c.files(operands, kind)
	case where == "cleaned":
		if len(operands) == 0 {
			operands = []argv.Word{argv.Known(".")}
		}
		all := c.files(operands, kind)
		for i := range all {
			all[i].untracked, all[i].deep = true, true
		}
		return all
	case where == "first" && len(operands) > 0:
		return c.files(operands[:1], kind)
	case where == "last" && len(operands) > 0:
		return c.files(operands[len(operands)-1:], kind)
	case where == "but-first" && len(operands) > 1:
		return c.files(operands[1:], kind)
	case where == "but-last" && len(operands) > 1:
		return c.files(operands[:len(operands)-1], kind)
	case where == "into" && len(operands) > 1:
		return c.into(operands[len(operands)-1], operands[:len(operands)-1], kind)
	case where == "into" && len(operands) == 1 && c.inv.Program == "ln":
		return c.into(argv.Known("."), operands, kind)
	case strings.HasPrefix(where, "into -"):
		var all []target
		for _, folder := range c.line.Values(strings.TrimPrefix(where, "into ")) {
			all = append(all, c.into(folder, operands, kind)...)
		}
		return all
	case strings.HasPrefix(where, "-"):
		return c.files(c.line.Values(where), kind)
	case strings.HasSuffix(where, "="):
		var words []argv.Word
		for _, w := range operands {
			if rest, ok := strings.CutPrefix(w.Value, where); ok {
				w.Value = rest
				words = append(words, w)
			} else if w.Value == "" && !w.Known {
				words = append(words, w)
			}
		}
		return c.files(words, kind)
	}
	return nil
}

func (c *call) files(words []argv.Word, kind change) []target {
	all := make([]target, 0, len(words))
	for _, w := range words {
		if w.Known && (w.Value == "-" || isRemotePath(w) && strings.Contains(w.Value, ":")) && kind != removes {
			continue // the standard output, or another machine
		}
		if w.Known && w.Value == "" {
			continue // no file has that name
		}
		t := resolve(w, c.inv.Cwd, kind)
		t.remote = c.inv.Remote
		t.linked = c.inv.Program == "ln" || c.inv.Program == "gln"
		t.slash = t.slash || strings.HasSuffix(c.inv.Program, "find")
		c.place.follow(&t, &c.text.links)
		t.deep = kind == removes && (c.line.Has("--recursive", "-r", "-delete") || removesFolders(c.inv.Program))
		all = append(all, t)
	}
	return all
}

// removesFolders reports whether a program takes folders with all below them,
// without an option.
func removesFolders(program string) bool {
	return slices.Contains([]string{"mv", "gmv", "rimraf", "del-cli", "trash", "trash-put", "gio"}, program)
}

// into are the last of several operands, and the files of the others' names in
// it, should it be a folder.
func (c *call) into(last argv.Word, others []argv.Word, kind change) []target {
	all := c.files([]argv.Word{last}, kind)
	if !last.Known || last.Glob || len(all) == 0 {
		return all
	}
	for _, w := range others {
		if !w.Known || w.Glob || w.Value == "" {
			continue
		}
		t := resolve(argv.Known(path.Join(last.Value, path.Base(w.Value))), c.inv.Cwd, kind)
		t.maybe, t.remote, t.linked = true, c.inv.Remote, c.inv.Program == "ln" || c.inv.Program == "gln"
		if _, own := c.text.links.symbolic[all[0].path]; !t.linked || !own {
			c.place.follow(&t, &c.text.links)
		}
		all = append(all, t)
	}
	return all
}

// last is the last operand's text.
func (c *call) last() string {
	if n := len(c.line.Operands); n > 1 && c.line.Operands[n-1].Known {
		return c.line.Operands[n-1].Value
	}
	return ""
}

// outsideOperand says that a word is a path that is not the agent's, or may
// be.
func outsideOperand(c *call, w argv.Word) bool {
	t := resolve(w, c.inv.Cwd, removes)
	return c.inv.Remote || t.outside(c.place)
}

// outsideOperands says so of an operand that is no mode and no owner. Of a word
// of which nothing is known it only does where whole folders are changed.
func outsideOperands(c *call) bool {
	operands := c.line.Operands
	if len(operands) > 0 && !c.line.Has("--reference") {
		operands = operands[1:]
	}
	return slices.ContainsFunc(operands, func(w argv.Word) bool {
		t := resolve(w, c.inv.Cwd, writes)
		c.place.follow(&t, &c.text.links)
		return c.inv.Remote || t.outside(c.place) && (!isUnknown(w) || c.line.Has("--recursive"))
	})
}

// ciOperand says that a word is a path of continuous integration, or may be.
func ciOperand(c *call, w argv.Word) bool {
	t := resolve(w, c.inv.Cwd, writes)
	return !c.inv.Remote && t.ci(c.place)
}

// overwritesWithDD reports whether dd overwrites an existing file that is not
// temporary and has no rule for its kind.
func overwritesWithDD(c *call) bool {
	return slices.ContainsFunc(c.targets, func(t target) bool {
		return t.kind == writes && !isStream(t.path) && c.place.kind(t.path) != PathMissing &&
			c.place.areaOf(t.path) != areaTmp && !t.ci(c.place)
	})
}
