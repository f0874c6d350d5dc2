package environ

import (
	"errors"
	"fmt"
	"strings"
)

// CheckPattern explains why a text is no pass_env pattern. A pattern is the
// name of a variable in which * stands for any number of characters.
func CheckPattern(text string) error {
	for i, r := range text {
		letter := r == '_' || r == '*' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			if strings.Contains(text, "=") {
				// The text may hold the value, which is not for messages.
				return errors.New("names variables without their values, such as \"MY_TOKEN\" or \"MY_*\"")
			}
			return fmt.Errorf("%q is not the name of a variable: letters, digits, _ and *, such as \"MY_TOKEN\" or \"MY_*\"", text)
		}
	}
	switch {
	case text == "":
		return errors.New("an empty name; want the name of a variable, such as \"MY_TOKEN\" or \"MY_*\"")
	case strings.HasPrefix(text, "SWARM_"):
		return fmt.Errorf("%q: variables that start with SWARM_ are set by swarm alone", text)
	case misleads(text):
		return fmt.Errorf("%q would lead agents out of their workspaces", text)
	case strings.HasPrefix(text, "GIT_") && strings.Contains(text, "*"):
		return fmt.Errorf("%q: variables that start with GIT_ are passed by their whole names only", text)
	}
	return nil
}

// Match reports whether a name matches any of the patterns. Upper and lower
// case differ, as they do in variables.
func Match(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(p, name) {
			return true
		}
	}
	return false
}

func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == name
	}
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = after
	}
	return true
}
