package risk

import (
	"path"
	"slices"
	"strings"

	"agentswarm/internal/patchpath"
	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// possible are files that a call may delete or overwrite without naming them:
// the members of an archive, the files of a patch, the files of a folder that is
// copied. They count as losses, and never for a tier: most such calls make new
// files or edit.
func (c *call) possible() []target {
	var all []target
	for _, e := range c.rules.effects[c.inv.Program] {
		if len(e.MayWrite)+len(e.MayRemove) == 0 || !c.has(e) {
			continue
		}
		for _, where := range e.MayWrite {
			all = append(all, c.possibleAt(where, writes)...)
		}
		for _, where := range e.MayRemove {
			all = append(all, c.possibleAt(where, removes)...)
		}
	}
	if len(c.rules.effects[c.inv.Program]) == 0 {
		all = c.outputs()
	}
	for i := range all {
		all[i].deep, all[i].possible = true, true
		c.place.follow(&all[i], &c.text.links)
	}
	return all
}

// isPossiblePlace reports whether a word names files for [call.possibleAt].
func isPossiblePlace(where string) bool {
	kind, _, _ := strings.Cut(where, " ")
	return slices.Contains([]string{"members", "but-first", "but-last", "patched", "copied"}, kind)
}

// possibleAt returns the files that a word of an effect stands for:
//
//	"members -C": the operands, in the folder that the option names or else in
//	the current folder; everything there if there are no operands
//	"but-first -d", "but-last": the same, without the first or last operand
//	"patched -d": the files of the patch that the call reads
//	"copied": what the folders that are copied may have in common with their
//	destination
func (c *call) possibleAt(where string, kind change) []target {
	how, option, _ := strings.Cut(where, " ")
	folders := []argv.Word{argv.Known(".")}
	if values := c.line.Values(option); option != "" && len(values) > 0 {
		folders = values
	}
	operands := c.line.Operands
	switch how {
	case "but-first":
		operands = operands[min(1, len(operands)):]
	case "but-last":
		operands = operands[:max(0, len(operands)-1)]
	case "copied":
		return c.copied(kind)
	case "patched":
		if removed, known := c.patched(); known {
			operands = removed
			if len(operands) == 0 {
				return nil
			}
		} else {
			operands = nil
		}
	}
	var all []target
	for _, folder := range folders {
		if len(operands) == 0 {
			all = append(all, c.below(folder, kind))
		}
		for _, o := range operands {
			if o.Known && !o.Glob && folder.Known && !folder.Glob {
				o.Value = path.Join(folder.Value, o.Value)
				t := resolve(o, c.inv.Cwd, kind)
				t.remote = c.inv.Remote
				all = append(all, t)
				continue
			}
			all = append(all, c.below(folder, kind))
		}
	}
	return all
}

// outputs are the files that a program of which no effect is known may write, by
// the usual options for that.
func (c *call) outputs() (all []target) {
	for i, w := range c.inv.Args {
		option, value, attached := strings.Cut(w.Value, "=")
		if !slices.Contains([]string{"-o", "--output", "--output-file", "--out", "-out", "--outfile"}, option) || !w.Known {
			continue
		}
		file := argv.Known(value)
		if !attached {
			if i+1 == len(c.inv.Args) {
				break
			}
			file = c.inv.Args[i+1]
		}
		if !file.Known || file.Glob || file.Value == "" || file.Value == "-" {
			continue
		}
		t := resolve(file, c.inv.Cwd, writes)
		t.remote = c.inv.Remote
		all = append(all, t)
	}
	return all
}

// below is everything in a folder.
func (c *call) below(folder argv.Word, kind change) target {
	t := resolve(folder, c.inv.Cwd, kind)
	t.remote, t.slash = c.inv.Remote, true
	return t
}

// copied are the folders that get files of the same names as they may have.
func (c *call) copied(kind change) []target {
	operands, inside := c.line.Operands, false
	var last argv.Word
	switch folders := c.line.Values("--target-directory"); {
	case len(folders) > 0:
		last, inside = folders[0], true
	case len(operands) < 2:
		return nil
	default:
		last, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	syncs := c.inv.Program == "rsync"
	var all []target
	for _, o := range operands {
		to, base := last, path.Base(o.Value)
		contents := o.Glob || !o.Known || base == "." || base == ".." || strings.HasSuffix(o.Value, "/.") ||
			syncs && strings.HasSuffix(o.Value, "/") || c.line.Has("--no-target-directory")
		if !contents && last.Known {
			// The folder keeps its name inside the destination.
			if at := resolve(last, c.inv.Cwd, kind); inside || c.place.kind(at.path) == PathFolder {
				to.Value = path.Join(last.Value, base)
			}
		}
		all = append(all, c.below(to, kind))
	}
	return all
}

// patched returns the files that a patch deletes, by their names in it; false:
// the patch is not in the text.
func (c *call) patched() ([]argv.Word, bool) {
	if c.inv.Stdin.Kind != shell.StdinText || c.line.Has("--input") ||
		c.inv.Program == "git" && slices.ContainsFunc(c.line.Operands, func(o argv.Word) bool { return o.Value != "-" }) {
		return nil, false
	}
	reverse := c.line.Has("--reverse")
	from, to := "--- ", "+++ "
	renames := "rename from "
	if reverse {
		from, to, renames = to, from, "rename to "
	}
	var all []argv.Word
	name := ""
	headers := map[string]string{} // of the file that is read
	for line := range strings.Lines(c.inv.Stdin.Text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "--- "):
			headers = map[string]string{"--- ": header(line)}
		case strings.HasPrefix(line, "+++ "):
			headers["+++ "] = header(line)
			if name = headers[from]; headers[to] == "/dev/null" && name != "" {
				all = append(all, c.stripped(name)...)
			}
		case strings.HasPrefix(line, renames):
			all = append(all, argv.Known(patchpath.Unquote(strings.TrimPrefix(line, renames))))
		}
	}
	return all, true
}

// header is the name in a line that begins with "--- " or "+++ ".
func header(line string) string {
	text := strings.TrimSpace(line[4:])
	if strings.HasPrefix(text, `"`) {
		return patchpath.Side(text)
	}
	return strings.TrimSpace(patchpath.Side(text))
}

// stripped returns the names that a name in a patch may mean.
func (c *call) stripped(name string) []argv.Word {
	all := []argv.Word{argv.Known(name)}
	for i := range len(name) {
		if name[i] == '/' && i+1 < len(name) {
			all = append(all, argv.Known(name[i+1:]))
		}
	}
	return all
}
