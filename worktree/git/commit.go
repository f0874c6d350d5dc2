package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Person is an author or a committer.
type Person struct {
	Name, Email string
	When        time.Time
}

// String formats the person as git does.
func (p Person) String() string { return p.Name + " <" + p.Email + ">" }

func (p Person) env(role string) []string {
	// Git refuses a name that is empty or made of angle brackets alone.
	name := strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r == '\n' || r == 0 {
			return -1
		}
		return r
	}, p.Name)
	if strings.TrimSpace(name) == "" {
		name = "swarm"
	}
	env := []string{
		fmt.Sprintf("GIT_%s_NAME=%s", role, name),
		fmt.Sprintf("GIT_%s_EMAIL=%s", role, p.Email),
	}
	if !p.When.IsZero() {
		env = append(env, fmt.Sprintf("GIT_%s_DATE=%s", role, p.When.Format("2006-01-02T15:04:05-07:00")))
	}
	return env
}

// Swarm is who commits where the user has not said who they are.
func Swarm(when time.Time) Person {
	return Person{Name: "swarm", Email: "swarm@localhost", When: when}
}

// User is the committer the user's configuration names; ok is false where it
// names none and git would guess.
func (r *Repo) User(ctx context.Context) (p Person, ok bool) {
	out, err := r.Run(ctx, Cmd{Args: []string{"config", "--null", "--get-regexp", `^user\.(name|email)$`}})
	if err != nil {
		return Person{}, false
	}
	for entry := range strings.SplitSeq(string(out), "\x00") { // the last value counts
		if name, is := strings.CutPrefix(entry, "user.name\n"); is {
			p.Name = name
		}
		if email, is := strings.CutPrefix(entry, "user.email\n"); is {
			p.Email = email
		}
	}
	return p, p.Name != "" && p.Email != ""
}

// CommitRequest is a commit to be made from a tree.
type CommitRequest struct {
	Tree      Hash // required
	Parents   []Hash
	Message   string
	Author    Person
	Committer Person
}

// CommitTree writes a commit object into the quarantine.
func (q *Quarantine) CommitTree(ctx context.Context, c CommitRequest) (Hash, error) {
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, p := range c.Parents {
		args = append(args, "-p", string(p))
	}
	out, err := q.Run(ctx, Cmd{
		Args:   append(args, string(c.Tree)),
		Stdin:  strings.NewReader(c.Message),
		Config: []string{"i18n.commitEncoding=UTF-8"},
		Env:    append(c.Author.env("AUTHOR"), c.Committer.env("COMMITTER")...),
	})
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", c.Tree.Short(), err)
	}
	return Hash(strings.TrimSpace(string(out))), nil
}
