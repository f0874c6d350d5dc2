package risk

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// Classify judges an action at a place. Its tier is never [Unclassified]: an
// action that cannot be judged is opaque.
func (r *Rules) Classify(a Action, p Place) *Finding {
	p.Root, p.Home = cleaned(p.Root), cleaned(p.Home)
	var parts []Part
	f := &Finding{Tier: Safe}
	switch a := a.(type) {
	case *Shell:
		parts = r.shell(a, &p, f)
	case *FileWrite:
		parts = r.file(a, &p, f)
	case *Git:
		parts = r.shell(&Shell{Text: "git " + argv.Quoted(a.Args), Cwd: a.Cwd}, &p, f)
	case *Outward:
		parts = r.outward(a)
	default:
		parts = []Part{opaque(shell.Opaque{Why: fmt.Sprintf("%T is not an action", a)})}
	}
	slices.SortStableFunc(parts, byText)
	f.Parts = parts
	for _, part := range parts {
		f.Tier = max(f.Tier, part.Tier)
		f.Opaque = f.Opaque || part.Opaque
		f.Blocked = f.Blocked || part.Blocked
	}
	return f
}

func cleaned(folder string) string {
	if folder == "" {
		return ""
	}
	return path.Clean(folder)
}

// shell judges a text for a shell. It notes the programs without a rule in f.
func (r *Rules) shell(a *Shell, p *Place, f *Finding) (parts []Part) {
	cwd := a.Cwd
	if cwd == "" {
		cwd = p.Root
	}
	script := r.reader.Read(a.Text, shell.Start{Cwd: cwd, Home: p.Home, Env: a.Env, Top: p.Root, Branch: p.Branch, GitDir: p.GitDir, CommonDir: p.CommonDir})
	text := r.around(script.Invocations, p)
	for i := range script.Invocations {
		inv := script.Invocations[i]
		if given := variables(a.Env, inv.Program); len(given) > 0 {
			inv.Assigns = slices.Concat(given, inv.Assigns)
		}
		parts = append(parts, r.judgeAmong(&inv, p, text)...)
		if !r.listed(inv.Program) && delegate(&inv) == nil && !inv.Shadowed && !slices.Contains(f.Unlisted, inv.Program) {
			f.Unlisted = append(f.Unlisted, inv.Program)
		}
	}
	for i := range script.Writes {
		parts = append(parts, r.redirect(&script.Writes[i], p, text)...)
	}
	f.Readings, f.Losses, f.judged = text.readings, text.losses, text.judged
	for _, o := range script.Opaque {
		parts = append(parts, opaque(o))
	}
	return parts
}

// variables returns the variables of an environment that change where git or
// the program of a forge works, or which programs it runs.
func variables(env map[string]string, program string) []shell.Assign {
	var all []shell.Assign
	for name, value := range env {
		git := program == "git" && strings.HasPrefix(name, "GIT_") && !isHarmless(name)
		if git || slices.Contains([]string{"gh GH_REPO", "gh GH_HOST", "glab GITLAB_HOST", "glab GITLAB_REPO"}, program+" "+name) {
			all = append(all, shell.Assign{Name: name, Value: argv.Known(value)})
		}
	}
	slices.SortFunc(all, func(a, b shell.Assign) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// opaque returns the part for a command that could not be read.
func opaque(o shell.Opaque) Part {
	return Part{
		Rule: "opaque", Tier: Destructive, Opaque: true, Reason: o.Why, Via: o.Via, Span: o.Span,
		Instead: "write out what is to run",
	}
}

// redirect judges the file that a redirection writes to.
func (r *Rules) redirect(w *shell.Write, p *Place, text *siblings) []Part {
	kind := writes
	if w.Append {
		kind = appends
	}
	t := resolve(w.Path, w.Cwd, kind)
	t.remote = w.Remote
	p.follow(&t, &text.links)
	if w.Path.Known && w.Path.Value == "" {
		return nil
	}
	inv := &shell.Invocation{Via: w.Via, Cwd: w.Cwd, Remote: w.Remote, Span: w.Span, Path: argv.Known(">"), Args: []argv.Word{w.Path}}
	c := &call{rules: r, inv: inv, line: &argv.Line{}, place: p, text: text, targets: []target{t}}
	parts := r.settle(c.addTargets(nil))
	c.lose()
	return parts
}

// file judges a file that a tool writes. Such a tool edits: it shows the change
// to its model, and does not empty files on its way.
func (r *Rules) file(a *FileWrite, p *Place, f *Finding) []Part {
	kind, cwd := writes, a.Cwd
	if a.Removes {
		kind = removes
	}
	if cwd == "" {
		cwd = p.Root
	}
	name := a.Path
	if rest, ok := strings.CutPrefix(name, "~/"); ok && p.Home != "" {
		name = path.Join(p.Home, rest)
	}
	folder := shell.Folder{Path: cwd, Known: path.IsAbs(cwd)}
	t := resolve(argv.Known(name), folder, kind)
	p.follow(&t, &links{})
	inv := &shell.Invocation{Cwd: folder, Path: argv.Known("write"), Args: []argv.Word{argv.Known(name)}}
	t.edits = kind == writes
	c := &call{rules: r, inv: inv, line: &argv.Line{}, place: p, text: &siblings{}, targets: []target{t}}
	parts := r.settle(c.addTargets(nil))
	f.Losses = c.losses()
	return parts
}

// outward judges the effect of a tool that is not a shell on other machines.
func (r *Rules) outward(a *Outward) []Part {
	if localURL(a.Target) {
		return nil
	}
	switch strings.ToUpper(a.Method) {
	case "GET", "HEAD", "OPTIONS":
		return nil
	case "":
		if r.readers[a.Tool] {
			return nil
		}
	}
	return []Part{{
		Rule: "outward", Tier: Visible, Reason: "others can see what " + a.Tool + " does",
		Argv: []string{a.Tool, a.Method, a.Target},
	}}
}
