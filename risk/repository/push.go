package repository

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/worktree/git"
)

// pushes holds the settings of git about pushes.
type pushes struct {
	upstream string // of the branch, as "origin/x"
	remote   string // target of a push without a name; empty: not set
	named    []*pushTarget
	rewrites []string // prefixes of addresses that url.*.insteadOf replaces
	// With matching, tags or options a push pushes more than it names. With
	// modules it does if the repository has submodules.
	matching, tags, options, modules bool
}

// pushTarget holds the settings of a remote.
type pushTarget struct {
	name       string
	urls, push []string // addresses, and those for pushes alone
	odd        bool     // it has refspecs or programs of its own
}

// readPushes reads the configuration, for the branch that is checked out.
func readPushes(settings []git.Setting, branch string) *pushes {
	p := &pushes{}
	var own branchSettings
	pushDefault := ""
	for _, s := range settings {
		switch s.Section {
		case "remote":
			if s.Of != "" {
				p.target(s.Of).read(s)
			} else if s.Name == "pushdefault" {
				pushDefault = s.Value
			}
		case "branch":
			if s.Of == branch && branch != "" {
				own.read(s)
			}
		case "url":
			if s.Name == "insteadof" || s.Name == "pushinsteadof" {
				p.rewrites = append(p.rewrites, s.Value)
			}
		case "push", "submodule":
			p.read(s)
		}
	}
	if own.remote != "" && own.merge != "" {
		p.upstream = own.remote + "/" + strings.TrimPrefix(own.merge, "refs/heads/")
	}
	for _, name := range []string{own.remote, pushDefault, own.pushRemote} {
		if name != "" {
			p.remote = name
		}
	}
	return p
}

// read reads a setting that holds for all remotes.
func (p *pushes) read(s git.Setting) {
	switch s.Section + "." + s.Name {
	case "push.default":
		p.matching = s.Value == "matching"
	case "push.followtags":
		p.tags = s.On()
	case "push.pushoption":
		p.options = s.Value != "" // an empty value clears those before it
	case "push.recursesubmodules":
		p.modules = s.On() && s.Value != "check"
	case "submodule.recurse":
		p.modules = p.modules || s.On()
	}
}

// branchSettings holds the settings of a branch.
type branchSettings struct{ remote, pushRemote, merge string }

func (b *branchSettings) read(s git.Setting) {
	switch s.Name {
	case "remote":
		b.remote = s.Value
	case "pushremote":
		b.pushRemote = s.Value
	case "merge":
		b.merge = s.Value
	}
}

// target returns the remote of a name. It adds a new remote if there is none.
func (p *pushes) target(name string) *pushTarget {
	for _, t := range p.named {
		if t.name == name {
			return t
		}
	}
	t := &pushTarget{name: name}
	p.named = append(p.named, t)
	return t
}

func (t *pushTarget) read(s git.Setting) {
	switch s.Name {
	case "url":
		t.urls = append(t.urls, s.Value)
	case "pushurl":
		t.push = append(t.push, s.Value)
	case "push", "vcs", "receivepack":
		t.odd = true
	case "mirror":
		t.odd = t.odd || s.On()
	}
}

// plain reports whether a push pushes only the refs that it names.
func (p *pushes) plain(submodules bool) bool {
	return !p.matching && !p.tags && !p.options && !(p.modules && submodules)
}

// remotes returns the configured remotes. Relative addresses start at folder from.
// A remote whose address is in own is not plain.
func (p *pushes) remotes(from string, own []string) []risk.Remote {
	var all []risk.Remote
	for _, t := range p.named {
		addresses := t.push
		if len(addresses) == 0 {
			addresses = t.urls
		}
		r := risk.Remote{Name: t.name, Plain: !t.odd && len(addresses) == 1}
		if len(addresses) > 0 {
			address := addresses[len(addresses)-1]
			r.URL = WithoutPassword(address)
			r.Plain = r.Plain && p.leads(address) && !isOwn(address, from, own)
		}
		all = append(all, r)
	}
	return all
}

// leads reports whether git uses an address as it is, and starts no remote helper
// for it.
func (p *pushes) leads(address string) bool {
	return address != "" && !strings.Contains(address, "::") &&
		!slices.ContainsFunc(p.rewrites, func(begin string) bool { return strings.HasPrefix(address, begin) })
}

// isOwn reports whether an address leads to a folder of own.
func isOwn(address, from string, own []string) bool {
	path := strings.TrimPrefix(address, "file://")
	if colon := strings.IndexByte(path, ':'); colon >= 0 && !strings.Contains(path[:colon], "/") {
		return false // another machine's
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(from, path)
	}
	path = fspath.Real(filepath.Clean(path))
	return slices.Contains(own, path) || slices.Contains(own, fspath.Real(filepath.Join(path, ".git")))
}

// WithoutPassword returns an address without its user and password, for people and
// records.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme == "" {
		return address
	}
	if _, has := u.User.Password(); !has && u.Scheme == "ssh" {
		return address
	}
	u.User = nil
	return u.String()
}
