package pullrequest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Forge is a program that opens pull requests. The user has installed it and logged
// in.
type Forge struct {
	// Program is "gh" or "glab".
	Program string
	Run     Runner // required
}

// FindForge is the program for a remote: glab if the address names GitLab, else
// gh. It takes the other program if that does not run. The error is
// [ErrNoForge].
func FindForge(address string, run Runner) (*Forge, error) {
	order := []string{"gh", "glab"}
	if strings.Contains(strings.ToLower(host(address)), "gitlab") {
		order = []string{"glab", "gh"}
	}
	for _, program := range order {
		if _, err := run("", nil, program, "--version"); err == nil {
			return &Forge{Program: program, Run: run}, nil
		}
	}
	return nil, ErrNoForge
}

// host is the host of a remote's address, such as git@host:path; empty for a folder.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	before, _, ok := strings.Cut(address, ":")
	if !ok || strings.Contains(before, "/") {
		return ""
	}
	return before[strings.LastIndex(before, "@")+1:]
}

// Opened is a pull request at a forge.
type Opened struct {
	URL  string
	Open bool // neither merged nor closed
}

// Find is the latest pull request of a branch; nil where there is none.
func (f *Forge) Find(branch string) (*Opened, error) {
	var all []struct {
		URL    string `json:"url"`
		WebURL string `json:"web_url"`
		State  string `json:"state"`
	}
	args := []string{"pr", "list", "--head", branch, "--state", "all", "--limit", "1", "--json", "url,state"}
	if f.Program == "glab" {
		args = []string{"mr", "list", "--source-branch", branch, "--all", "--per-page", "1", "--output", "json"}
	}
	out, err := f.Run("", nil, f.Program, args...)
	if err != nil {
		return nil, fmt.Errorf("look for the pull request of %s: %w", branch, err)
	}
	if out = strings.TrimSpace(out); out == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, fmt.Errorf("look for the pull request of %s: %s printed no JSON: %w", branch, f.Program, err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	state := strings.ToLower(all[0].State)
	return &Opened{URL: all[0].URL + all[0].WebURL, Open: state == "open" || state == "opened"}, nil
}

// OpenRequest is a pull request that is to be opened.
type OpenRequest struct {
	Branch, Base string // without refs/heads/; required
	Title        string // a line; required
	Body         string // Markdown
	Draft        bool
}

// Open opens a pull request and returns its address. An error has the last words of
// the program.
func (f *Forge) Open(r OpenRequest) (address string, err error) {
	args := []string{"pr", "create", "--head=" + r.Branch, "--base=" + r.Base, "--title=" + r.Title, "--body-file=-"}
	in := r.Body
	if f.Program == "glab" {
		args = []string{
			"mr", "create", "--source-branch=" + r.Branch, "--target-branch=" + r.Base, "--title=" + r.Title,
			"--description=" + r.Body, "--yes",
		}
		in = ""
	}
	if r.Draft {
		args = append(args, "--draft")
	}
	out, err := f.Run(in, nil, f.Program, args...)
	if err != nil {
		return "", fmt.Errorf("open the pull request of %s: %w", r.Branch, err)
	}
	for line := range strings.FieldsSeq(out) {
		if u, err := url.Parse(line); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			address = line
		}
	}
	if address == "" {
		return "", fmt.Errorf("open the pull request of %s: %s printed no address", r.Branch, f.Program)
	}
	return address, nil
}
