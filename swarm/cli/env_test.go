package cli

import (
	"strings"
)

// envOf makes a Getenv from NAME=value words.
func envOf(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}
