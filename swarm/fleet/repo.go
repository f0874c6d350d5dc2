package fleet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"agentswarm/swarm/scope"
	"agentswarm/swarm/script"
)

// match is a line that a pattern was found in.
type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// commit is a commit as a script sees it.
type commit struct {
	Name string `json:"commit"`
	Commit
}

// ask answers a question about the base.
func (r Repo) ask(q *script.Repo) (any, error) {
	switch q.Verb {
	case "files":
		return r.list(q.Glob)
	case "read":
		text, ok := r.Files[q.Path]
		if !ok {
			return nil, &script.Error{
				Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("repo.read: there is no file %q in the base", q.Path),
			}
		}
		return text, nil
	case "grep":
		return r.grep(q)
	case "log":
		return r.log(q), nil
	default:
		return nil, &script.Error{
			Name: "Error", Code: script.CodeOption, Message: fmt.Sprintf("unknown question %q about the base", q.Verb),
		}
	}
}

// list are the paths that a glob means, in order.
func (r Repo) list(glob string) ([]string, error) {
	all := slices.Sorted(maps.Keys(r.Files))
	if glob == "" {
		return append([]string{}, all...), nil
	}
	if err := scope.Validate(glob); err != nil {
		return nil, &script.Error{Name: "Error", Code: script.CodeOption, Message: "the glob " + err.Error()}
	}
	out := []string{}
	for _, p := range all {
		if scope.Match([]string{glob}, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (r Repo) grep(q *script.Repo) ([]match, error) {
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return nil, &script.Error{
			Name: "Error", Code: script.CodeOption, Message: fmt.Sprintf("%q is not a regular expression: %v", q.Pattern, err),
		}
	}
	paths, err := r.list(q.Glob)
	if err != nil {
		return nil, err
	}
	out := []match{}
	for _, p := range paths {
		for i, line := range split(r.Files[p]) {
			if re.MatchString(line) && (q.Max == 0 || len(out) < q.Max) {
				out = append(out, match{Path: p, Line: i + 1, Text: line})
			}
		}
	}
	return out, nil
}

// log are the commits that touched a path, the newest first.
func (r Repo) log(q *script.Repo) []commit {
	out := []commit{}
	for i, c := range r.Commits {
		if c.Files == nil {
			c.Files = []string{}
		}
		wanted := q.Path == "" || q.Path == "."
		for _, f := range c.Files {
			wanted = wanted || f == q.Path || strings.HasPrefix(f, strings.TrimSuffix(q.Path, "/")+"/")
		}
		if wanted && (q.Max == 0 || len(out) < q.Max) {
			out = append(out, commit{Name: digest("commit", i, c), Commit: c})
		}
	}
	return out
}
