package fanout

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/nearest"
)

// place holds the values of the placeholders of a call.
type place struct {
	item         string
	index, count int
}

// names are the placeholders, in the order they are told.
func names() []string { return []string{"item", "name", "index", "count"} }

// value returns the value of a placeholder; ok is false for a word that is no
// placeholder.
func (p place) value(word string) (string, bool) {
	switch word {
	case "item":
		return p.item, true
	case "name":
		return path.Base(p.item), true
	case "index":
		return strconv.Itoa(p.index), true
	case "count":
		return strconv.Itoa(p.count), true
	default:
		return "", false
	}
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-zA-Z_]+\}`) })

// fill replaces the known placeholders and passes every other byte, in a single
// pass: the text of an item is never read as a placeholder.
func (p place) fill(text string) string {
	return placeholder().ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := p.value(m[1 : len(m)-1]); ok {
			return v
		}
		return m
	})
}

// PlaceholderError says that a placeholder cannot stand where it stands.
type PlaceholderError struct {
	Word   string // with its braces
	Reason string
}

func (e *PlaceholderError) Error() string { return e.Word + " " + e.Reason }

// checkPrompt refuses words in braces that are nearly a placeholder: a typing
// error would go to a hundred agents.
func checkPrompt(prompt string) error {
	for _, m := range placeholder().FindAllString(prompt, -1) {
		word := m[1 : len(m)-1]
		if _, known := (place{}).value(word); known {
			continue
		}
		for _, name := range names() {
			if nearest.Distance(strings.ToLower(word), name) <= 2 {
				return &PlaceholderError{
					Word: m, Reason: fmt.Sprintf("in the prompt is not a placeholder; did you mean {%s}?", name),
				}
			}
		}
	}
	return nil
}

// checkWords refuses words of a command that are a placeholder with a typing
// error. The script of a shell is left alone: no placeholder may stand there.
func checkWords(argv []string) error {
	for _, word := range outsideScripts(argv) {
		for _, m := range placeholder().FindAllString(word, -1) {
			text := m[1 : len(m)-1]
			if _, known := (place{}).value(text); known {
				continue
			}
			for _, name := range names() {
				if nearest.Distance(strings.ToLower(text), name) == 1 {
					return &PlaceholderError{
						Word: m, Reason: fmt.Sprintf("in the command is not a placeholder; did you mean {%s}? In sh -c '…' it is passed on unchanged", name),
					}
				}
			}
		}
	}
	return nil
}

// outsideScripts are the words of a command without the script of a shell.
func outsideScripts(argv []string) []string {
	for i, word := range argv {
		if !shells[path.Base(word)] {
			continue
		}
		script, ok := scriptOf(argv[i+1:])
		if !ok {
			continue
		}
		return slices.DeleteFunc(slices.Clone(argv), func(w string) bool { return w == script })
	}
	return argv
}

// checkNoItems refuses {item} in a command that no item is there for.
func checkNoItems(argv []string) error {
	for _, word := range outsideScripts(argv) {
		if strings.Contains(word, "{item}") {
			return &PlaceholderError{
				Word: "{item}", Reason: "is the item, and there are no items; give --each, --count or a list of items. In sh -c '…' it is passed on unchanged",
			}
		}
	}
	return nil
}

// Unknown are the words in braces of a prompt or a command that look like a
// placeholder and are none: they are passed on as they are. Without items no
// placeholder is replaced, and known placeholders are among them.
func (w Workflow) Unknown() []string {
	texts := append([]string{w.Prompt}, outsideScripts(w.Command)...)
	filled := len(w.Each) > 0 || w.Count > 0
	if len(w.Tasks) > 0 {
		texts, filled = outsideScripts(w.Command), true
	}
	var unknown []string
	for _, text := range texts {
		for _, m := range placeholder().FindAllString(text, -1) {
			_, known := (place{}).value(m[1 : len(m)-1])
			if (!known && filled || known && !filled) && !slices.Contains(unknown, m) {
				unknown = append(unknown, m)
			}
		}
	}
	return unknown
}

// shells are programs whose -c takes a script.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "zsh": true,
	"ksh": true, "mksh": true, "fish": true, "csh": true, "tcsh": true,
	"busybox": true,
}

// checkCommand refuses an item's name inside the script of a shell, where a
// file called `$(reboot)` would be run.
func checkCommand(argv []string) error {
	for i, word := range argv {
		if !shells[path.Base(word)] {
			continue
		}
		script, ok := scriptOf(argv[i+1:])
		if !ok {
			continue
		}
		for _, name := range []string{"{item}", "{name}"} {
			if strings.Contains(script, name) {
				return &PlaceholderError{
					Word:   name,
					Reason: `inside the script of a shell would be run as code; write "$SWARM_ITEM" there`,
				}
			}
		}
	}
	return nil
}

// scriptOf finds the argument of -c among the arguments of a shell. Short
// options may stand together, as in -euc.
func scriptOf(args []string) (string, bool) {
	script := false
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--command":
			script = true
		case strings.HasPrefix(word, "--command="):
			return word, true
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			script = script || word[0] == '-' && strings.Contains(word, "c")
			if strings.HasSuffix(word, "o") || strings.HasSuffix(word, "O") {
				i++ // -o takes a name
			}
		case script:
			return word, true
		case shells[word]: // busybox sh -c
		default:
			return "", false
		}
	}
	return "", false
}
