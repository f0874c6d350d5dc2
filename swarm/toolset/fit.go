package toolset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rules state which entries agents of a kind can be given.
type Rules struct {
	// More are the tools that the kind has beside [Basic].
	More []string
	// Parts are the tools of which a part can be allowed or taken away.
	Parts []string
	// Denies is set where single tools can be taken away from all others. Other
	// kinds are told the tools that are left.
	Denies bool
	// Modes is set where an agent has either all tools or those that read.
	Modes bool
	// Pair is set if edit and write are the same tool.
	Pair bool
}

// Lists are the tools that an agent is to have, and those it is not to have.
type Lists struct {
	Tools   []string // empty: all
	Without []string
}

// Request is a question about the tools of a kind of agent: which of the lists
// it can have.
type Request struct {
	Kind string // for messages
	Rules
	Lists
}

// Fit returns the lists that agents of a kind can have. It never gives more
// than asked, except with bash among the tools, which can do all that the
// others do. For an entry that cannot be mapped a kind gets nothing. For a part
// that cannot be taken away it loses the whole tool. The warning names all such
// entries; it is empty if there are none. Fit returns an error if nothing fits.
func Fit(r Request) (fitted Lists, warning string, err error) {
	f := fitting{Request: r}
	tools, err := parseAll("tools", r.Tools)
	if err != nil {
		return Lists{}, "", err
	}
	without, err := parseAll("disallowedTools", r.Without)
	if err != nil {
		return Lists{}, "", err
	}
	if err := f.deny(without); err != nil {
		return Lists{}, "", err
	}
	f.every = len(tools) == 0 || slices.Contains(tools, Entry{Name: All})
	if f.every && len(f.denied) > 0 && !r.Denies {
		// An explicit list is the only way to take something away.
		f.every = false
		for _, name := range append(Basic(), r.More...) {
			f.allow(Entry{Name: name})
		}
	} else if !f.every {
		f.list(tools)
	}
	if !f.every && len(f.allowed) == 0 {
		return Lists{}, "", fmt.Errorf("tools: agents of the kind %s cannot have any of %s", r.Kind, strings.Join(r.Tools, ", "))
	}
	if err := f.shape(); err != nil {
		return Lists{}, "", err
	}
	return f.lists(), f.warning(), nil
}

// Missing names the first entry that agents of a kind cannot be given; empty where
// there is none.
func (r Rules) Missing(l Lists) string {
	f := fitting{Request: Request{Rules: r}}
	for i, text := range append(append([]string{}, l.Tools...), l.Without...) {
		e, err := Parse(text)
		denied := i >= len(l.Tools)
		if err != nil || !f.has(e) || e.Part != "" && !f.takesPart(e.Name) || denied && e.Part == "" && !r.Denies {
			return text
		}
	}
	return ""
}

// fitting is the work of [Fit].
type fitting struct {
	Request
	every           bool    // all tools, but for those denied
	allowed, denied []Entry // with parts where the kind takes them
	// The subjects of the warning.
	missing, parted, whole []string
	more                   string
}

func parseAll(key string, list []string) ([]Entry, error) {
	var all []Entry
	for _, text := range list {
		e, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all, nil
}

// has reports whether the kind has a tool.
func (f *fitting) has(e Entry) bool {
	return slices.Contains(Basic(), e.Name) || slices.Contains(f.More, e.Name)
}

func (f *fitting) takesPart(name string) bool { return slices.Contains(f.Parts, name) }

// deny notes the tools that are taken away.
func (f *fitting) deny(without []Entry) error {
	for _, e := range without {
		switch {
		case e.Name == All:
			return errors.New("disallowedTools: * takes all tools away")
		case !f.has(e):
			continue // the kind has no such tool: it is away already
		case e.Part != "" && !f.takesPart(e.Name):
			f.whole = append(f.whole, e.String())
			e.Part = ""
		}
		f.denied = append(f.denied, e)
	}
	return nil
}

// allow adds a tool, unless the whole of it is taken away.
func (f *fitting) allow(e Entry) {
	if !slices.Contains(f.denied, Entry{Name: e.Name}) && !slices.Contains(f.allowed, e) {
		f.allowed = append(f.allowed, e)
	}
}

// list adds the entries that can be mapped, and notes the others.
func (f *fitting) list(tools []Entry) {
	for _, e := range tools {
		switch {
		case !f.has(e):
			f.missing = append(f.missing, e.String())
		case e.Part != "" && slices.Contains(tools, Entry{Name: e.Name}):
			// The whole tool is in the list, too.
		case e.Part != "" && !f.takesPart(e.Name):
			f.parted = append(f.parted, e.String())
		default:
			f.allow(e)
		}
	}
}

// shape brings the tools into a form that the kind has.
func (f *fitting) shape() error {
	named := func(name string) bool {
		return slices.ContainsFunc(f.allowed, func(e Entry) bool { return e.Name == name })
	}
	bash := slices.Contains(f.allowed, Entry{Name: "bash"})
	if f.Pair && !f.every && named("edit") != named("write") {
		if !bash {
			return fmt.Errorf("tools: agents of the kind %s have edit and write together, or neither", f.Kind)
		}
		f.allow(Entry{Name: "edit"})
		f.allow(Entry{Name: "write"})
		f.more = "edit and write together"
	}
	if !f.Modes || f.every {
		return nil
	}
	return f.mode(bash)
}

// mode chooses all tools, or those that read.
func (f *fitting) mode(bash bool) error {
	for _, e := range f.denied {
		if slices.Contains(Reading(), e.Name) {
			return fmt.Errorf("disallowedTools: agents of the kind %s read with their shell, and %s cannot be taken away", f.Kind, e.Name)
		}
	}
	var others []Entry // tools that the mode does not decide on
	asked := []Entry{}
	for _, e := range f.allowed {
		if slices.Contains(Basic(), e.Name) {
			asked = append(asked, e)
		} else {
			others = append(others, e)
		}
	}
	writes := slices.ContainsFunc(asked, func(e Entry) bool { return !slices.Contains(Reading(), e.Name) })
	taken := slices.ContainsFunc(f.denied, func(e Entry) bool { return slices.Contains(Basic(), e.Name) })
	mode := Reading()
	switch {
	case !writes && len(asked) > 0:
		return nil
	case !writes:
		f.more = "tools that read, which it always has"
	case taken:
		f.more = "only tools that read, since it has those or all"
	case !bash:
		return fmt.Errorf("tools: agents of the kind %s write with their shell, and cannot have %s without bash", f.Kind, entries(asked))
	default:
		mode = Basic()
		if len(asked) < len(mode) {
			f.more = "all basic tools, since its shell does everything"
		}
	}
	f.allowed = others
	for i := range mode {
		f.allowed = slices.Insert(f.allowed, i, Entry{Name: mode[i]})
	}
	return nil
}

// lists returns the canonical lists. A tool that is taken away as a whole does
// not stand in an explicit list any more.
func (f *fitting) lists() Lists {
	var l Lists
	if !f.every {
		for _, e := range f.allowed {
			l.Tools = append(l.Tools, e.String())
		}
	}
	for _, e := range f.denied {
		if f.every || e.Part != "" {
			l.Without = append(l.Without, e.String())
		}
	}
	return l
}

// warning names the entries that could not be mapped, with a sentence for each
// reason.
func (f *fitting) warning() string {
	var all []string
	add := func(format string, list []string) {
		if len(list) > 0 {
			all = append(all, fmt.Sprintf(format, strings.Join(list, ", ")))
		}
	}
	add("it has no %s", f.missing)
	add("it cannot allow a part of a tool, so it gets no %s", f.parted)
	add("it cannot take away a part of a tool, so it loses the whole tool of %s", f.whole)
	if f.more != "" {
		all = append(all, "it gets "+f.more)
	}
	return strings.Join(all, "; ")
}

func entries(list []Entry) string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = e.String()
	}
	return strings.Join(words, ", ")
}
