package verb

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed words.toml
var wordsText []byte

// Text is the file that the built-in tables are made of. Its bytes are part of
// the hash of a set of rules.
func Text() []byte { return wordsText }

// Added are the words that a user adds to the tables.
type Added struct {
	Destroy   []string `toml:"destroy"`   // verbs that destroy something
	Uninstall []string `toml:"uninstall"` // verbs that remove a program
	Publish   []string `toml:"publish"`   // verbs that show something to others
	Send      []string `toml:"send"`      // verbs that send a message or money
	// Local are objects on this machine: their removal is SAFE.
	Local []string `toml:"local"`
	// Restorable are programs whose removals in the work tree can be restored.
	Restorable []string `toml:"restorable"`
	// Harmless are programs that the grammar does not read.
	Harmless []string `toml:"harmless"`
}

// Lowers reports the first key by which the added words lower a tier; empty:
// they raise tiers only.
func (a *Added) Lowers() string {
	switch {
	case len(a.Local) > 0:
		return "local"
	case len(a.Restorable) > 0:
		return "restorable"
	case len(a.Harmless) > 0:
		return "harmless"
	}
	return ""
}

// classFile is the table of a class of verbs.
type classFile struct {
	Strong   []string `toml:"strong"`
	Whole    []string `toml:"whole"`
	Later    []string `toml:"later"`
	Leading  []string `toml:"leading"`
	First    []string `toml:"first"`
	Last     []string `toml:"last"`
	Glued    []string `toml:"glued"`
	Behind   []string `toml:"behind"`
	Short    []string `toml:"short"`
	Nouns    []string `toml:"nouns"`
	Options  []string `toml:"options"`
	Single   []string `toml:"single"`
	Prefixes []string `toml:"prefixes"`
	Things   []string `toml:"things"`
	Object   []string `toml:"object"`
	Undoing  []string `toml:"undoing"`
	Agreed   []string `toml:"agreed"`
}

// file is the form of words.toml.
type file struct {
	Destroy   classFile `toml:"destroy"`
	Uninstall classFile `toml:"uninstall"`
	Publish   classFile `toml:"publish"`
	Send      classFile `toml:"send"`
	Here      struct {
		Words   []string `toml:"words"`
		Options []string `toml:"options"`
		Not     []string `toml:"not"`
	} `toml:"here"`
	Live struct {
		Verbs       []string `toml:"verbs"`
		Things      []string `toml:"things"`
		Controllers []string `toml:"controllers"`
		Control     []string `toml:"control"`
	} `toml:"live"`
	Spared  map[string][]string `toml:"spared"`
	Reading struct {
		Verbs     []string `toml:"verbs"`
		Compounds []string `toml:"compounds"`
		Options   []string `toml:"options"`
		Bare      []string `toml:"bare"`
		Words     []string `toml:"words"`
	} `toml:"reading"`
	Neutral struct {
		Verbs     []string `toml:"verbs"`
		Groups    []string `toml:"groups"`
		Making    []string `toml:"making"`
		Before    []string `toml:"before"`
		Flags     []string `toml:"flags"`
		Modifiers []string `toml:"modifiers"`
		Schemas   []string `toml:"schemas"`
		Agreeing  []string `toml:"agreeing"`
		Files     []string `toml:"files"`
		Domains   []string `toml:"domains"`
		Into      []string `toml:"into"`
	} `toml:"neutral"`
	Local struct {
		Own   []string `toml:"own"`
		Kept  []string `toml:"kept"`
		Named []string `toml:"named"`
	} `toml:"local"`
	Programs struct {
		Restorable []string `toml:"restorable"`
		Managers   []string `toml:"managers"`
		Endings    []string `toml:"endings"`
		Copiers    []string `toml:"copiers"`
		Harmless   []string `toml:"harmless"`
	} `toml:"programs"`
}

// set holds words for a look-up.
type set map[string]bool

func newSet(words []string) set {
	s := make(set, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}

// class is the table of a class of verbs, for lookups.
type class struct {
	is                                         Class
	strong, whole, later, leading, first, last set
	options, single, things, object            set
	undoing, agreed                            set
	glued, behind, short, prefixes             []string
	nouns                                      set
}

func newClass(is Class, f *classFile) *class {
	return &class{
		is: is, strong: newSet(f.Strong), whole: newSet(f.Whole), later: newSet(f.Later), leading: newSet(f.Leading),
		first: newSet(f.First), last: newSet(f.Last), options: newSet(f.Options), single: newSet(f.Single),
		things: newSet(f.Things), object: newSet(f.Object), glued: f.Glued, behind: f.Behind, short: f.Short, prefixes: f.Prefixes, nouns: newSet(f.Nouns),
		undoing: newSet(f.Undoing), agreed: newSet(f.Agreed),
	}
}

// Tables hold the words of the grammar. They do not change once they are made,
// and many goroutines may use them at the same time.
type Tables struct {
	classes                                           []*class // the gravest first
	reading, compounds, dry, bare, dryWords           set
	neutral, groups, making, before, flags, modifiers set
	own, kept, restorable, copiers, harmless          set
	schemas, agreeing, files, domains, into           set
	here, hereOptions, not                            set
	live, liveThings, control, named, managers        set
	spared                                            map[string]set // the objects of a verb
	endings, controllers                              []string
}

// New makes the tables: the built-in words, and those that are added. Its error
// names a word that can never match.
func New(added ...*Added) (*Tables, error) {
	var f file
	d := toml.NewDecoder(bytes.NewReader(wordsText))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("built-in verbs: %w", err)
	}
	for _, a := range added {
		if err := a.check(); err != nil {
			return nil, err
		}
		f.Destroy.add(a.Destroy)
		f.Uninstall.add(a.Uninstall)
		f.Publish.add(a.Publish)
		f.Send.add(a.Send)
		f.Local.Own = append(f.Local.Own, a.Local...)
		f.Programs.Restorable = append(f.Programs.Restorable, a.Restorable...)
		f.Programs.Harmless = append(f.Programs.Harmless, a.Harmless...)
	}
	t := &Tables{
		classes: []*class{
			newClass(Destruction, &f.Destroy), newClass(Removal, &f.Uninstall), newClass(Publication, &f.Publish), newClass(Message, &f.Send),
		},
		reading: newSet(f.Reading.Verbs), compounds: newSet(f.Reading.Compounds), dry: newSet(f.Reading.Options),
		bare: newSet(f.Reading.Bare), dryWords: newSet(f.Reading.Words), neutral: newSet(f.Neutral.Verbs),
		groups: newSet(f.Neutral.Groups), making: newSet(f.Neutral.Making), before: newSet(f.Neutral.Before), flags: newSet(f.Neutral.Flags),
		modifiers: newSet(f.Neutral.Modifiers), own: newSet(f.Local.Own), kept: newSet(f.Local.Kept),
		restorable: newSet(f.Programs.Restorable), copiers: newSet(f.Programs.Copiers), harmless: newSet(f.Programs.Harmless),
		schemas: newSet(f.Neutral.Schemas), agreeing: newSet(f.Neutral.Agreeing),
		files: newSet(f.Neutral.Files), domains: newSet(f.Neutral.Domains), into: newSet(f.Neutral.Into), here: newSet(f.Here.Words), hereOptions: newSet(f.Here.Options),
		live: newSet(f.Live.Verbs), liveThings: newSet(f.Live.Things), control: newSet(f.Live.Control), controllers: f.Live.Controllers,
		named: newSet(f.Local.Named), managers: newSet(f.Programs.Managers),
		not: newSet(f.Here.Not), spared: make(map[string]set, len(f.Spared)), endings: f.Programs.Endings,
	}
	for verb, objects := range f.Spared {
		t.spared[verb] = newSet(objects)
	}
	for _, a := range added { // an added verb wins over a built-in verb that only reads
		for _, w := range slices.Concat(a.Destroy, a.Uninstall, a.Publish, a.Send) {
			delete(t.reading, w)
			delete(t.neutral, w)
			delete(t.groups, w)
			delete(t.compounds, w)
			delete(t.spared, w)
		}
	}
	return t, nil
}

// add adds words of a user: they count as words and within compounds.
func (f *classFile) add(words []string) {
	f.Strong = append(f.Strong, words...)
	f.Options = append(f.Options, words...)
}

// check reports a word that can never match.
func (a *Added) check() error {
	for key, words := range map[string][]string{
		"destroy": a.Destroy, "uninstall": a.Uninstall, "publish": a.Publish, "send": a.Send, "local": a.Local,
	} {
		for _, w := range words {
			if w == "" || w != strings.ToLower(w) || strings.ContainsAny(w, " \t\n-:/=") {
				return fmt.Errorf("verbs.%s: %q is not a word: write it in lower case, without dashes or spaces", key, w)
			}
		}
	}
	for key, names := range map[string][]string{"restorable": a.Restorable, "harmless": a.Harmless} {
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, "/ \t\n*") {
				return fmt.Errorf("verbs.%s: %q is not the name of a program: write it without its folder", key, name)
			}
		}
	}
	return nil
}
