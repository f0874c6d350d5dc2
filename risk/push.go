package risk

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// isRefspecDelete reports whether a refspec deletes the branch that it names,
// or may.
func isRefspecDelete(w argv.Word) bool {
	text := strings.TrimPrefix(w.Value, "+")
	return isUnknown(w) || len(text) > 1 && text[0] == ':'
}

// isForcedBySetting reports whether a setting has a push without refspecs force
// or mirror: an option or a variable of its own, or a setting that the text makes
// before it.
func isForcedBySetting(c *call) bool {
	if c.text.forces {
		return true
	}
	for _, o := range c.line.Options {
		key, value, given := strings.Cut(o.Value.Value, "=")
		if o.Level == 0 && (o.Name == "-c" || o.Name == "--config-env") && (forcesPush(key, argv.Word{Value: value, Known: o.Value.Known && o.Name == "-c"}) || forcesPush(key, argv.Known("true")) && !given) {
			return true
		}
	}
	for _, a := range c.inv.Assigns {
		number, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_KEY_")
		if !ok {
			continue
		}
		value := argv.Word{}
		for _, b := range c.inv.Assigns {
			if b.Name == "GIT_CONFIG_VALUE_"+number {
				value = b.Value
			}
		}
		if forcesPush(a.Value.Value, value) {
			return true
		}
	}
	return false
}

// forcesPush reports whether a setting of git has pushes force, or may.
func forcesPush(key string, value argv.Word) bool {
	key = strings.ToLower(key)
	switch {
	case !strings.HasPrefix(key, "remote."):
		return false
	case strings.HasSuffix(key, ".push"):
		return !value.Known || strings.HasPrefix(value.Value, "+") || strings.HasPrefix(value.Value, ":") && value.Value != ":"
	}
	return strings.HasSuffix(key, ".mirror") && (!value.Known || !isOff(value))
}

// setsForce reports whether a "git config" makes such a setting.
func setsForce(c *call) bool {
	for i, w := range c.inv.Args {
		value := argv.Word{}
		if i+1 < len(c.inv.Args) {
			value = c.inv.Args[i+1]
		}
		if forcesPush(w.Value, value) {
			return isConfigWrite(c)
		}
	}
	return false
}

// fetchesInto reports whether a fetch writes branches or tags of this
// repository, and not only remote-tracking branches. The first operand is the
// source of the fetch.
func fetchesInto(c *call) bool {
	operands := c.line.Operands
	if c.line.Has("--multiple", "--all") || len(operands) == 0 {
		return c.line.Has("--refmap")
	}
	return c.line.Has("--refmap") || slices.ContainsFunc(operands[1:], func(w argv.Word) bool {
		_, to, _ := strings.Cut(w.Value, ":")
		return !w.Known || to != "" && !strings.HasPrefix(to, "refs/remotes/")
	})
}

// fetchForces reports whether a fetch puts a branch that is there elsewhere by force,
// or may.
func fetchForces(c *call) bool {
	operands := c.line.Operands
	if c.line.Has("--multiple", "--all") || len(operands) == 0 {
		return false
	}
	return slices.ContainsFunc(operands[1:], func(w argv.Word) bool {
		from, to, ok := strings.Cut(w.Value, ":")
		if !ok && !w.Known {
			_, to, ok = strings.Cut(w.Rest, ":")
		}
		if !ok || !c.line.Has("--force") && !strings.HasPrefix(from, "+") {
			return false
		}
		branch, is := strings.CutPrefix(to, "refs/heads/")
		if !is && strings.HasPrefix(to, "refs/") || to == "" && w.Known {
			return false
		}
		there, known := c.place.isRef(branch)
		return there || !known || !w.Known || strings.Contains(branch, "*")
	})
}

// pushesImage reports whether ko pushes the image that it builds. Options can
// keep the image local.
func pushesImage(c *call) bool {
	return !slices.ContainsFunc(c.line.Options, func(o argv.Option) bool {
		return o.Name == "--local" && !o.Negated && (!o.Valued || !isOff(o.Value)) ||
			o.Name == "--push" && o.Valued && o.Value.Known && isOff(o.Value)
	})
}

// pushesLocal says that a push leads into the repository that work trees
// share.
func pushesLocal(c *call) bool {
	names := c.line.Values("--repo")
	if w, ok := c.first(); ok {
		names = append(names, w)
	}
	return slices.ContainsFunc(names, func(w argv.Word) bool {
		if !w.Known {
			return false
		}
		text, _ := strings.CutPrefix(w.Value, "file://")
		if text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
			return true
		}
		t := resolve(argv.Known(text), c.inv.Cwd, writes)
		if !strings.HasPrefix(text, "/") || t.path == "" {
			return false
		}
		a := c.place.areaOf(t.path)
		return a == areaCommon || a == areaOther || a == areaGit || a == areaTree
	})
}

// gitOrdinary says that a git command works where it stands, without
// configuration of its own.
func (c *call) gitOrdinary() bool {
	for _, o := range c.line.Options {
		if o.Level == 0 && o.Name != "--no-pager" && o.Name != "--paginate" {
			return false
		}
	}
	return c.inv.Cwd.Path == c.place.Root || c.insideSame()
}

// insideSame says that a call runs in a folder of the work tree that belongs to
// no other repository.
func (c *call) insideSame() bool {
	rest, ok := c.place.below(c.inv.Cwd.Path)
	if !ok || c.place.Facts == nil || c.place.areaOf(c.inv.Cwd.Path) != areaTree {
		return false
	}
	folder := c.place.Root
	for part := range strings.SplitSeq(rest, "/") {
		folder += "/" + part
		if c.place.Facts.Path(folder+"/.git") != PathMissing {
			return false
		}
	}
	return true
}

// push returns the operation of a push. It is nil unless all of the push is
// known and ordinary.
func (c *call) push() *Push {
	if c.inv.Program != "git" || len(c.line.Sub) != 1 || c.line.Sub[0] != "push" || c.line.Unsure || c.text.alters || !c.gitOrdinary() {
		return nil
	}
	p := &Push{}
	for _, o := range c.line.Options {
		switch {
		case o.Level == 0:
		case o.Negated || !o.Listed:
			return nil
		case o.Name == "--force", o.Name == "--force-with-lease", o.Name == "--force-if-includes":
			p.Force = true
		case !slices.Contains([]string{"--verbose", "--quiet", "--set-upstream", "--progress", "--porcelain", "--atomic", "--thin", "--ipv4", "--ipv6", "--verify", "--no-verify"}, o.Name):
			return nil
		}
	}
	operands, _ := argv.Text(c.line.Operands)
	name := ""
	if len(operands) > 0 {
		name, operands = operands[0], operands[1:]
	}
	remote := c.place.remote(name)
	if remote == nil {
		return nil
	}
	p.Remote = remote.Name
	if len(operands) == 0 {
		p.Branches = c.usual(remote.Name)
		if p.Branches == nil {
			return nil
		}
		return p
	}
	for _, spec := range operands {
		branch, force := c.destination(spec)
		if branch == "" {
			return nil
		}
		p.Force = p.Force || force
		p.Branches = append(p.Branches, branch)
	}
	return p
}

// remote returns the remote of a name, or the default remote of pushes for an
// empty name. It returns nil for a remote that is unknown or not Plain.
func (p *Place) remote(name string) *Remote {
	if name == "" {
		name = p.PushDefault
	}
	if up, _, ok := p.upstream(); ok && name == "" {
		name = up
	}
	if name == "" {
		name = "origin"
		if len(p.Remotes) == 1 {
			name = p.Remotes[0].Name
		}
	}
	for i := range p.Remotes {
		if r := &p.Remotes[i]; r.Name == name && r.Plain {
			return r
		}
	}
	return nil
}

// upstream is the remote and the branch that the branch goes to by default.
// The name of a remote may have slashes in it.
func (p *Place) upstream() (remote, branch string, ok bool) {
	for i := range p.Remotes {
		name := p.Remotes[i].Name
		if rest, found := strings.CutPrefix(p.Upstream, name+"/"); found && name != "" && len(name) > len(remote) {
			remote, branch, ok = name, rest, true
		}
	}
	return remote, branch, ok
}

// usual are the branches that a push without refspecs may go to. Which of them
// it is is a matter of configuration.
func (c *call) usual(remote string) []string {
	if !isBranchName(c.place.Branch) || c.text.moves {
		return nil
	}
	branches := []string{c.place.Branch}
	up, branch, ok := c.place.upstream()
	if c.place.Upstream != "" && !ok {
		return nil
	}
	if ok && up == remote && branch != c.place.Branch {
		if !isBranchName(branch) {
			return nil
		}
		branches = append(branches, branch)
	}
	return branches
}

// destination is the branch that a refspec leads to; empty: it is none, or it
// is not known.
func (c *call) destination(spec string) (branch string, force bool) {
	spec, force = strings.CutPrefix(spec, "+")
	from, to, both := strings.Cut(spec, ":")
	if from == "" || both && to == "" || strings.ContainsAny(spec, "*") {
		return "", force
	}
	if !both {
		switch {
		case from == "HEAD" || from == "@":
			if c.text.moves {
				return "", force
			}
			to = c.place.Branch
		case from == c.place.Branch, strings.HasPrefix(from, "refs/heads/"):
			to = from
		default:
			is, known := c.place.isRef("refs/tags/" + from)
			if !known || is {
				return "", force
			}
			to = from
		}
	}
	to = strings.TrimPrefix(to, "refs/heads/")
	if strings.HasPrefix(to, "refs/") || !isBranchName(to) {
		return "", force
	}
	return to, force
}

// isBranchName reports whether a name can be that of a branch, by the rules of
// git, and has no other meaning.
func isBranchName(name string) bool {
	switch {
	case name == "", name == "@", name == "HEAD", len(name) > 250, strings.HasPrefix(name, "-"), strings.HasSuffix(name, "."),
		strings.Contains(name, ".."), strings.Contains(name, "@{"), strings.Contains(name, "//"), strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"):
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r > 0x7e || strings.ContainsRune("~^:?*[\\", r)
	})
}

// around returns the effect of the git commands of a text on the state that a
// push depends on.
func (r *Rules) around(all []shell.Invocation, p *Place) *siblings {
	s := &siblings{}
	for i := range all {
		inv := &all[i]
		s.links.add(r, inv, p)
		if inv.Program != "git" {
			continue
		}
		c := &call{rules: r, inv: inv, line: r.parsed(inv), place: &Place{}}
		switch name, _ := c.gitVerb(); name {
		case "add", "commit", "fetch", "pull", "push", "merge", "cherry-pick", "revert", "stash", "rm", "mv", "reset", "restore", "clean", "apply", "am":
		case "checkout", "switch", "branch", "symbolic-ref", "rebase", "bisect":
			s.moves = true
		default:
			if !readsOnly(c) {
				s.alters = true
				s.forces = s.forces || name == "config" && setsForce(c)
			}
		}
	}
	return s
}
