package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/swarm/script"
)

// tree is the content of a repository: text by path.
type tree map[string]string

// change is the content of a patch: the texts of paths before and after. A path
// that is missing in a side does not exist there.
type change struct {
	agent         string
	before, after tree
	paths         []string
}

// store holds every tree and patch of a case, by name. A name is a digest of the
// content, so that equal trees have the same name.
type store struct {
	base    string
	trees   map[string]tree
	changes map[string]*change // by patch
}

func newStore(files map[string]string) *store {
	y := &store{trees: map[string]tree{}, changes: map[string]*change{}}
	y.base = y.keep(tree{})
	if len(files) > 0 {
		y.base = y.keep(tree(files))
	}
	return y
}

// keep names a tree.
func (y *store) keep(t tree) string {
	name := digest("tree", t)
	y.trees[name] = t
	return name
}

// digest is as long as a commit, and the same for the same values.
func digest(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("texts and lists have no JSON: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:20])
}

// at is the name of the tree that a script names: the base if it names none, a
// tree, or the result of a patch.
func (y *store) at(name string) (string, error) {
	switch {
	case name == "" || name == "base":
		return y.base, nil
	case y.trees[name] != nil:
		return name, nil
	default:
		return "", &script.Error{
			Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("there is no tree or patch %q", name),
		}
	}
}

// patch is the change of an agent that began at a base; nil: it changed
// nothing.
func (y *store) patch(agent, base string, a *Agent) *script.Patch {
	before, after := y.trees[base], maps.Clone(y.trees[base])
	maps.Copy(after, a.Files)
	for _, p := range a.Removes {
		delete(after, p)
	}
	c := &change{agent: agent, before: before, after: after}
	for p := range after {
		if old, was := before[p]; !was || old != after[p] {
			c.paths = append(c.paths, p)
		}
	}
	for p := range before {
		if _, is := after[p]; !is {
			c.paths = append(c.paths, p)
		}
	}
	if len(c.paths) == 0 {
		return nil
	}
	slices.Sort(c.paths)
	// The agent is part of the name: two who did the same made two commits.
	name := digest("patch", agent, base, after)
	y.changes[name], y.trees[name] = c, after
	stat := script.Stat{Files: len(c.paths)}
	for _, p := range c.paths {
		_, out, in := parted(before[p], after[p])
		stat.Deleted += len(out)
		stat.Added += len(in)
	}
	return &script.Patch{ID: name, Base: base, Files: c.paths, Stat: stat}
}

// merge puts patches onto a tree, in their order. A patch that has a file in
// conflict is left out as a whole.
func (y *store) merge(onto string, patches []string) (*script.Merged, error) {
	start, err := y.at(onto)
	if err != nil {
		return nil, err
	}
	now := maps.Clone(y.trees[start])
	m := &script.Merged{Applied: []string{}, Conflicts: []script.Conflict{}}
	by := map[string][]string{} // patches that touched a path
	for _, name := range patches {
		c := y.changes[name]
		if c == nil {
			return nil, &script.Error{
				Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("there is no patch %q", name),
			}
		}
		if clash := c.clash(now); len(clash) > 0 {
			m.Conflicts = append(m.Conflicts, script.Conflict{Patch: name, With: those(by, clash), Paths: clash})
			continue
		}
		for _, p := range c.paths {
			if text, is := c.after[p]; is {
				now[p] = text
			} else {
				delete(now, p)
			}
			by[p] = append(by[p], name)
		}
		m.Applied = append(m.Applied, name)
	}
	m.Tree = y.keep(now)
	return m, nil
}

// clash are the paths of a change that are neither as it found them nor as it
// leaves them.
func (c *change) clash(now tree) []string {
	var paths []string
	for _, p := range c.paths {
		if !same(now, c.before, p) && !same(now, c.after, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func same(a, b tree, path string) bool {
	x, inA := a[path]
	y, inB := b[path]
	return inA == inB && x == y
}

// those lists the patches that touched any of the paths, each once.
func those(by map[string][]string, paths []string) []string {
	out := []string{}
	for _, p := range paths {
		for _, name := range by[p] {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// text formats a patch for people: per file a single hunk, from the first line
// that differs to the last.
func (y *store) text(name string) (string, error) {
	c := y.changes[name]
	if c == nil {
		return "", &script.Error{Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("there is no patch %q", name)}
	}
	var b strings.Builder
	for _, p := range c.paths {
		_, was := c.before[p]
		_, is := c.after[p]
		from, to := "a/"+p, "b/"+p
		fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
		if !was {
			from = "/dev/null"
			b.WriteString("new file mode 100644\n")
		}
		if !is {
			to = "/dev/null"
			b.WriteString("deleted file mode 100644\n")
		}
		first, out, in := parted(c.before[p], c.after[p])
		if len(out)+len(in) == 0 {
			continue // an empty file came or went
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n@@ -%s +%s @@\n", from, to, span(first, len(out)), span(first, len(in)))
		for _, l := range out {
			b.WriteString("-" + l + "\n")
		}
		for _, l := range in {
			b.WriteString("+" + l + "\n")
		}
	}
	return b.String(), nil
}

// span formats the place of a hunk. A hunk without a line names the line before
// it.
func span(first, n int) string {
	if n > 0 {
		first++
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// parted are the lines of two texts between those that both begin and end
// with, and how many they begin with.
func parted(before, after string) (first int, out, in []string) {
	out, in = split(before), split(after)
	for len(out) > 0 && len(in) > 0 && out[0] == in[0] {
		out, in = out[1:], in[1:]
		first++
	}
	for len(out) > 0 && len(in) > 0 && out[len(out)-1] == in[len(in)-1] {
		out, in = out[:len(out)-1], in[:len(in)-1]
	}
	return first, out, in
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
