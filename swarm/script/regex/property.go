package regex

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// unicodeText are the properties of characters: see testdata/unicode.js.
//
//go:embed unicode.txt
var unicodeText string

// ofStrings reports whether a name is that of a property of strings.
func ofStrings(name string) bool {
	return slices.Contains([]string{
		"Basic_Emoji", "Emoji_Keycap_Sequence", "RGI_Modifier_Sequence", "RGI_Flag_Sequence",
		"RGI_Emoji_Modifier_Sequence", "RGI_Emoji_Flag_Sequence", "RGI_Emoji_Tag_Sequence",
		"RGI_Emoji_ZWJ_Sequence", "RGI_Emoji",
	}, name)
}

// lookUp finds a property as \p names it.
func lookUp(name string) (set, bool) {
	key, value, assigned := strings.Cut(name, "=")
	if !assigned {
		if s, ok := read("gc", name); ok {
			return s, true
		}
		return read("binary", name)
	}
	switch key {
	case "General_Category", "gc":
		return read("gc", value)
	case "Script", "sc":
		return read("sc", value)
	case "Script_Extensions", "scx":
		if s, ok := read("scx", value); ok {
			return s, true
		}
		return read("sc", value)
	default:
		return nil, false
	}
}

// property is a property that is known to be there.
func property(name string) set {
	s, _ := lookUp(name)
	return s
}

// read finds the line of a property.
func read(kind, name string) (set, bool) {
	if name == "" || strings.ContainsAny(name, " \t\n") {
		return nil, false
	}
	for line := range strings.Lines(unicodeText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 3 && fields[0] == kind && slices.Contains(strings.Fields(fields[1]), name) {
			return ranges(fields[2]), true
		}
	}
	return nil, false
}

// ranges reads bounds, each as its difference to the bound before. A range that
// is not closed lasts to the end.
func ranges(text string) set {
	var s set
	at := int64(0)
	for i, difference := range strings.Fields(text) {
		n, err := strconv.ParseInt(difference, 36, 32)
		if err != nil {
			return nil
		}
		at += n
		if i%2 == 0 {
			s = append(s, span{rune(at), lastRune})
		} else {
			s[len(s)-1].to = rune(at) - 1
		}
	}
	return s
}
