package shim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// before the real PATH
type renaming struct {
	*call
	repo
	flags   []string // of -f, -k and -v those that were given
	skip    bool     // -k: sources that cannot move stay
	dest    string   // as it was given
	into    string   // the folder below the top that the sources go into; empty: the only source gets a new name
	sources []source
}

// source is a file or folder to move.
type source struct {
	given    string
	from, to string // below the top of the work tree
	folder   bool
	tracked  []string // of a folder: the files below it that git tracks
}

// rename is `git mv`; done is false where git can do it, or has to say why
// not.
func (c *call) rename() (code int, done bool) {
	m, ok := c.plan()
	if !ok {
		return 0, false
	}
	var words bytes.Buffer
	code, err := c.child(child{
		global: c.global, args: slices.Concat([]string{"mv", "-n"}, m.flags, []string{"--"}, m.given(true), []string{m.dest}),
		err: &words,
	})
	switch {
	case err != nil:
		return m.fail(err), true
	case code != 0:
		_, _ = words.WriteTo(c.Stderr)
		return code, true
	}
	if err := m.settle(); err != nil {
		return m.fail(err), true
	}
	if files := m.given(false); len(files) > 0 {
		code, err := c.child(child{
			global: c.global, args: slices.Concat([]string{"mv"}, m.flags, []string{"--"}, files, []string{m.dest}),
			out: c.Stdout, err: c.Stderr,
		})
		if err != nil {
			return m.fail(err), true
		}
		if code != 0 {
			return code, true
		}
	}
	return m.move(), true
}

// plan finds the files and folders to move; ok is false if none is a folder, or
// if git must do it.
func (c *call) plan() (m *renaming, ok bool) {
	g := grammar{long: []string{"force", "verbose", "dry-run", "sparse", "no-force", "no-verbose"}}
	w := g.scan(c.args)
	m = &renaming{call: c}
	for _, o := range w.options {
		switch o.name {
		case "f", "force":
			m.flags = append(m.flags, "-f")
		case "v", "verbose":
			m.flags = append(m.flags, "-v")
		case "no-force", "no-verbose":
			undone := "-" + o.name[3:4]
			m.flags = slices.DeleteFunc(m.flags, func(f string) bool { return f == undone })
		case "k":
			m.flags, m.skip = append(m.flags, "-k"), true
		default: // -n, and unknown options
			return nil, false
		}
	}
	names := slices.Concat(w.operands, w.after)
	if len(names) < 2 || slices.Contains(names, "") {
		return nil, false
	}
	if m.repo, ok = c.find(); !ok {
		return nil, false
	}
	last := len(names) - 1
	m.dest = names[last]
	if !m.locate(names[:last]) || !m.list() {
		return nil, false
	}
	return m, true
}

// locate finds the sources and their targets; ok is false if git must report a
// fault, or if none is a folder.
func (m *renaming) locate(names []string) (ok bool) {
	dest, ok := m.below(m.dest)
	if !ok {
		return false
	}
	if isFolder(filepath.Join(m.top, dest)) {
		m.into = dest
	} else if len(names) > 1 {
		return false
	}
	folders := 0
	for _, name := range names {
		s := source{given: name, to: dest}
		if s.from, ok = m.below(name); !ok || s.from == "." {
			return false
		}
		if m.into != "" {
			s.to = path.Join(dest, path.Base(s.from))
		}
		if s.folder = isFolder(filepath.Join(m.top, s.from)); s.folder {
			folders++
		}
		m.sources = append(m.sources, s)
	}
	return folders > 0
}

// list finds the files that git tracks below the folders; ok is false if any of
// them takes more than a rename.
func (m *renaming) list() (ok bool) {
	args := []string{"--literal-pathspecs", "ls-files", "-s", "-t", "-z", "--"}
	for _, s := range m.sources {
		if s.folder {
			args = append(args, s.from)
		}
	}
	var out bytes.Buffer
	code, err := m.child(child{
		global: m.placeless(), args: args, dir: m.top, env: m.environ(m.Environ, m.top), out: &out,
	})
	if err != nil || code != 0 {
		return false
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		facts, name, _ := strings.Cut(record, "\t")
		if record == "" {
			continue
		}
		// A submodule, a sparse file, a conflict.
		if strings.Contains(facts, " 160000 ") || !strings.HasPrefix(facts, "H ") || !strings.HasSuffix(facts, " 0") {
			return false
		}
		for i := range m.sources {
			if s := &m.sources[i]; s.folder && strings.HasPrefix(name, s.from+"/") {
				s.tracked = append(s.tracked, name)
			}
		}
	}
	return true
}

// settle leaves only the sources that really move, after git has found no
// fault. Faults that git 2.39 finds half-way are refused here, or not moved
// with -k.
func (m *renaming) settle() error {
	taken := map[string]bool{}
	for i, s := range m.sources {
		switch {
		case m.skip && s.folder && !m.moves(s) || m.skip && taken[s.to]:
			m.sources[i].to = "" // stays
			continue
		case s.folder && taken[s.to]:
			return fmt.Errorf("multiple sources for the same target, source=%s, destination=%s", s.from, s.to)
		}
		// Two files are seen by git.
		taken[s.to] = taken[s.to] || s.folder
	}
	m.sources = slices.DeleteFunc(m.sources, func(s source) bool { return s.to == "" })
	for _, outer := range slices.Clone(m.sources) {
		for _, inner := range m.sources {
			if outer.folder && inner.below(outer) && !m.skip {
				return fmt.Errorf("cannot move both '%s' and its parent directory '%s'", inner.from, outer.from)
			}
		}
		m.sources = slices.DeleteFunc(m.sources, func(s source) bool { return outer.folder && s.below(outer) })
	}
	return nil
}

func (s source) below(outer source) bool { return strings.HasPrefix(s.from, outer.from+"/") }

// moves reports whether git would move a folder.
func (m *renaming) moves(s source) bool {
	_, err := os.Lstat(filepath.Join(m.top, s.to))
	return err != nil && len(s.tracked) > 0 && !strings.HasPrefix(s.to+"/", s.from+"/")
}

// given are the sources as they were given: all, or the files only.
func (m *renaming) given(folders bool) []string {
	var names []string
	for _, s := range m.sources {
		if folders || !s.folder {
			names = append(names, s.given)
		}
	}
	return names
}

// move moves the folders, and changes the index when all have.
func (m *renaming) move() (code int) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	shadow, err := newShadow(m)
	if err != nil {
		return m.fail(err)
	}
	defer func() {
		if err := shadow.remove(); err != nil {
			fmt.Fprintln(m.Stderr, "warning:", err)
		}
	}()
	t := &transfer{signals: signals}
	var moved []source
	for _, s := range m.sources {
		if !s.folder {
			continue
		}
		before := t.now()
		err := t.move(filepath.Join(m.top, s.from), filepath.Join(m.top, s.to))
		var interrupted *interruptError
		switch {
		case err == nil:
			moved = append(moved, s)
		case errors.As(err, &interrupted):
			m.back(t, moment{})
			return interrupted.code()
		case m.skip:
			m.back(t, before)
		default:
			m.back(t, moment{})
			return m.fail(fmt.Errorf("renaming '%s' failed: %s", s.from, wording(err)))
		}
	}
	if code = shadow.rename(moved); code != 0 {
		m.back(t, moment{})
		return code
	}
	t.finish()
	return 0
}

// back undoes the moves. A file that does not go back stays at its target.
func (m *renaming) back(t *transfer, to moment) {
	if err := t.back(to); err != nil {
		fmt.Fprintln(m.Stderr, "error: put back what was moved:", err)
	}
}

// fail says why nothing moved, as git does.
func (m *renaming) fail(err error) int {
	fmt.Fprintln(m.Stderr, "fatal:", err)
	return 128
}

// wording is an error in git's words: where it is the system's, as C has it.
func wording(err error) string {
	text := err.Error()
	var number syscall.Errno
	if errors.As(err, &number) {
		text = number.Error()
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
