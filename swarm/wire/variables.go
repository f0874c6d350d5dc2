package wire

import "strings"

// Variables are those that a file of lines like NAME=value sets, in that form
// and without quotes, as far as they are wanted. Where a value is more than a
// word the variable is left out: no key, place or address is.
func Variables(text []byte, want func(name string) bool) (all []string) {
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || strings.ContainsAny(name, " \t#'\"") || name == "" || !want(name) {
			continue
		}
		if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") || strings.HasPrefix(value, "`") {
			value, _, _ = strings.Cut(value[1:], value[:1])
		} else {
			value, _, _ = strings.Cut(value, "#")
		}
		if value = strings.TrimSpace(value); value != "" && len(strings.Fields(value)) == 1 {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// Variable is the value of a variable of such a list; empty if it is not in it.
func Variable(all []string, name string) string {
	for _, kv := range all {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
