package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// state is the state that commands change for later commands.
type state struct {
	vars    map[string]variable
	funcs   map[string][]function
	aliases map[string]string
	params  *params // nil: not known
	cwd     Folder
	old     Folder
	pushed  []Folder
	files   map[string]written // by the text itself, by path
}

// written is the text that a file got from commands of the text.
type written struct {
	output
	changes int // of the reading, then
}

// params are $0, $1 and so on.
type params struct {
	zero field
	rest []field
}

// variable is a variable that the text has set, or a variable of the
// environment.
type variable struct {
	value    field
	list     []field
	array    bool
	unset    bool
	exported bool
	outside  bool // of the environment, and not known
}

// function is a function that may be defined.
type function struct {
	*definition
	sure bool // it is defined whichever way the text runs
}

// definition is where the text defines a function.
type definition struct {
	decl   *syntax.FuncDecl
	called bool
	where  *scope
}

func (st *state) clone() state {
	c := *st
	c.vars, c.funcs, c.aliases, c.files = maps.Clone(st.vars), maps.Clone(st.funcs), maps.Clone(st.aliases), maps.Clone(st.files)
	c.pushed = slices.Clone(st.pushed)
	return c
}

// unknown is a field of which nothing is known.
func unknown() field { return field{loose: true} }

// merge reduces a state to the part that is sure if another state may hold
// instead. It reports whether that is less than the other state has.
func (st *state) merge(other *state) bool {
	less := false
	for name, w := range other.vars {
		if _, ok := st.vars[name]; !ok {
			either := unknown()
			either.may, _ = candidates(w)
			st.set(name, variable{value: either, exported: w.exported})
		}
	}
	for name, v := range st.vars {
		w, ok := other.vars[name]
		if ok && v.same(w) {
			continue
		}
		less = less || !ok || w.value.Known || w.array || w.unset
		either := unknown()
		either.may, either.among = candidates(w, v)
		less = less || w.value.among && !slices.Equal(either.may, w.value.may)
		st.vars[name] = variable{value: either, exported: v.exported || w.exported}
	}
	if st.cwd != other.cwd {
		less = less || other.cwd.Known
		st.cwd = Folder{Moved: true}
	}
	if st.old != other.old {
		st.old = Folder{Moved: true}
	}
	if st.params != other.params {
		st.params = nil
	}
	st.mergeFuncs(other)
	for name, text := range other.aliases {
		st.alias(name, text)
	}
	for name, out := range st.files {
		if other.files[name] != out {
			st.files[name] = written{}
		}
	}
	return less
}

// candidates returns the texts that the given variables may have, and whether
// there are no others.
func candidates(all ...variable) (may []string, among bool) {
	const most = 4
	among = true
	for _, v := range all {
		texts := v.value.may
		sure := v.value.sure() && !v.array && !v.outside
		if sure {
			texts = []string{v.value.Value}
		}
		among = among && (sure || v.value.among)
		for _, text := range texts {
			if !slices.Contains(may, text) {
				may = append(may, text)
			}
		}
	}
	if len(may) > most {
		return may[:most], false
	}
	return may, among
}

func (st *state) mergeFuncs(other *state) {
	for name, fs := range other.funcs {
		if st.funcs == nil {
			st.funcs = map[string][]function{}
		}
		mine := slices.Clone(st.funcs[name])
		for _, f := range fs {
			if !slices.ContainsFunc(mine, func(m function) bool { return m.definition == f.definition }) {
				mine = append(mine, f)
			}
		}
		st.funcs[name] = mine
	}
	for name, fs := range st.funcs {
		if len(fs) == len(other.funcs[name]) {
			continue
		}
		unsure := slices.Clone(fs)
		for i := range unsure {
			unsure[i].sure = false
		}
		st.funcs[name] = unsure
	}
}

func (v variable) same(w variable) bool {
	return v.value.Word == w.value.Word && v.value.guess == w.value.guess && v.value.among == w.value.among && slices.Equal(v.value.may, w.value.may) && v.array == w.array && v.unset == w.unset &&
		slices.EqualFunc(v.list, w.list, func(a, b field) bool { return a.Word == b.Word })
}

func (st *state) set(name string, v variable) {
	if st.vars == nil {
		st.vars = map[string]variable{}
	}
	v.exported = v.exported || st.vars[name].exported
	st.vars[name] = v
}

func (st *state) alias(name, text string) {
	if st.aliases == nil {
		st.aliases = map[string]string{}
	}
	st.aliases[name] = text
}

// forget makes every variable unknown that the text has set.
func (st *state) forget() {
	for name, v := range st.vars {
		st.vars[name] = variable{value: unknown(), exported: v.exported}
	}
	st.params = nil
}

// lookup is a variable by its name.
func (s *scope) lookup(name string) variable {
	if v, ok := s.vars[name]; ok {
		return v
	}
	if !s.remote {
		switch {
		case name == "HOME" && s.at.Home != "":
			return variable{value: known(s.at.Home)}
		case name == "PWD" && s.cwd.Known:
			return variable{value: known(s.cwd.Path)}
		case name == "OLDPWD" && s.old.Known:
			return variable{value: known(s.old.Path)}
		}
		if text, ok := s.at.Env[name]; ok && name != "IFS" {
			return variable{value: known(text)}
		}
	}
	if name == "IFS" { // a shell takes none from its environment
		return variable{value: known(" \t\n")}
	}
	return variable{value: field{}, outside: true}
}

// assign sets a variable, and reads its value where that is code.
func (s *scope) assign(name string, v variable, at Span) {
	s.set(name, v)
	s.bearing(name, v.value, at)
}

// folder is the folder that a word leads to from here.
func (s *scope) folder(to field) Folder {
	if !to.Known || to.Glob || to.guess {
		return Folder{Moved: true}
	}
	switch {
	case strings.HasPrefix(to.Value, "/"):
		return Folder{Path: clean(to.Value), Known: !s.remote, Moved: true}
	case !s.cwd.Known:
		return Folder{Moved: true}
	}
	return Folder{Path: path.Join(s.cwd.Path, to.Value), Known: true, Moved: true}
}

// clean is a path in its shortest spelling.
func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}
