package agent

import (
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"agentswarm/swarm/task"
)

// OptionPattern matches the name of a model or of an effort. The name goes into
// the arguments of programs, where a leading dash would make it a flag.
const OptionPattern = `^[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*$`

var optionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(OptionPattern) })

// MaxOption is the longest name of a model, in characters.
const MaxOption = 256

// IsOption reports whether a word may name a model or an effort.
func IsOption(word string) bool {
	return utf8.RuneCountInString(word) <= MaxOption && optionWord().MatchString(word)
}

// Lay lays options over others. Those that say read-only and name no tools
// leave of the tools below those that change nothing.
func Lay(o, under task.Options) task.Options {
	all := o.Over(under)
	if !all.ReadOnly || len(o.Tools) > 0 || Reads(all.Tools) {
		return all
	}
	all.Tools = slices.DeleteFunc(slices.Clone(all.Tools), func(t string) bool { return !Reads([]string{t}) })
	if len(all.Tools) == 0 {
		all.Tools = ReadOnlyTools() // none would stand for any
	}
	return all
}

// UnknownTool is the first of the names that is no tool; empty where all are.
func UnknownTool(names []string) string {
	for _, name := range names {
		if !slices.Contains(AllTools(), name) {
			return name
		}
	}
	return ""
}
