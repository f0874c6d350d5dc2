// Package getenv gives a test an environment of its own.
package getenv

import "strings"

// Func returns a function like os.Getenv for an environment of NAME=value words.
func Func(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}
