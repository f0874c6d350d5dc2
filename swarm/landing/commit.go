package landing

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"agentswarm/merge"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Author names the author of a commit.
type Author string

// The authors that a commit can have.
const (
	// ByUser makes the user the author. The agent and its model are named by a
	// Co-authored-by line.
	ByUser Author = "user"
	// ByAgent makes the agent the author.
	ByAgent Author = "agent"
)

// Style is how commits are written.
type Style struct {
	Author Author // empty: [ByUser]
	// User is the user's name and address in git; nil where they are not set, and
	// then the agent is the author.
	User *git.Person
	// Message is the text of the commits; empty: each has the subject of its
	// patch. For an agent with a ticket it is a template; see [ticket.Template].
	Message string
	// Trailers follow the message, such as "Refs: #12". They are templates, too.
	Trailers []string
	// Squash makes a single commit of all patches.
	Squash bool
}

// Work is a patch of an agent that becomes a commit.
type Work struct {
	Run   string       // its id; required
	Agent *store.Agent // required
	Patch *task.Patch  // required
	Kind  string       // the kind of the agent, such as claude; required
	Title string       // the label of the agent, for people; required
	// Resolved names the conflict that a person has resolved in it; empty: none.
	Resolved string
	// Verified describes the check, in the form of [VerifiedBy]; empty: no
	// check.
	Verified string
}

// Commit is the work as a merge takes it. An error is a [*TicketError]; [Style.Check]
// finds it before a merge begins.
func (s Style) Commit(w Work) (merge.Patch, error) {
	said, err := s.fill(w.Agent)
	if err != nil {
		return merge.Patch{}, err
	}
	p := merge.Patch{
		ID: string(w.Agent.ID), Label: w.Title, Base: git.Hash(w.Patch.Base), Commit: git.Hash(w.Patch.Commit),
		Subject: w.subject(), Author: s.author(w),
		Trailers: []string{"Swarm-Run: " + w.Run, "Swarm-Agent: " + string(w.Agent.ID), "Swarm-Base: " + w.Patch.Base},
	}
	if w.Verified != "" {
		p.Trailers = append(p.Trailers, "Swarm-Verified: "+w.Verified)
	}
	for _, review := range s.reviews(w) {
		p.Trailers = append(p.Trailers, "Swarm-Reviewed: "+review)
	}
	if own := w.Agent.Improved; own != nil && own.Base == w.Patch.Base {
		p.Above = git.Hash(own.Commit)
	}
	if said.subject != "" && !s.Squash {
		p.Subject, p.Body = said.subject, said.body
	}
	if w.Resolved != "" {
		p.Trailers = append(p.Trailers, "Swarm-Resolved: "+w.Resolved)
	}
	// Those without fields stand once in the message of a squash; see Squashed.
	for i, text := range said.trailers {
		if !s.Squash || hasFields(s.Trailers[i]) {
			p.Trailers = append(p.Trailers, text)
		}
	}
	if with := w.coAuthor(); with != "" && s.byUser() {
		p.Trailers = append(p.Trailers, with)
	}
	return p, nil
}

// reviews are the reviews that a patch passed: by the user, and by an agent. Reviews of
// another attempt do not count.
func (s Style) reviews(w Work) []string {
	if now := w.Agent.Patch(); now == nil || now.Commit != w.Patch.Commit {
		return nil
	}
	var all []string
	if w.Agent.Accepted() {
		by := "the user"
		if s.User != nil && s.User.Name != "" {
			by = s.User.Name
		}
		all = append(all, "accepted by "+by)
	}
	if found := w.Agent.Appraisal; found != nil && found.Pass && found.By != "" {
		all = append(all, "passed by "+string(found.By))
	}
	return all
}

// Squashed is the commit of a merge of count patches; nil where each has its
// own.
func (s Style) Squashed(run string, count int) *merge.Squash {
	if !s.Squash {
		return nil
	}
	q := &merge.Squash{}
	for _, text := range s.Trailers {
		if !hasFields(text) {
			q.Trailers = append(q.Trailers, text)
		}
	}
	q.Subject, q.Body = SplitMessage(s.Message)
	if q.Subject == "" && count > 1 {
		q.Subject = fmt.Sprintf("Merge %d patches of run %s", count, run)
	}
	if s.byUser() {
		q.Author = *s.User
	}
	return q
}

func (s Style) byUser() bool { return s.User != nil && cmp.Or(s.Author, ByUser) == ByUser }

// author is the author of a commit, at the time the agent ended.
func (s Style) author(w Work) git.Person {
	if s.byUser() {
		user := *s.User
		user.When = w.ended()
		return user
	}
	name := w.Kind
	if own := w.Agent.Call.Agent; own != "" && own != w.Kind {
		name = own + " (" + w.Kind + ")"
	}
	return git.Person{Name: name, Email: address(w.Kind), When: w.ended()}
}

// ended is when the work was done.
func (w Work) ended() time.Time { return w.Agent.Ended }

// address is the e-mail address of a kind of agent. It has no owner: the
// domain is reserved.
func address(kind string) string { return kind + "@swarm.localhost" }

// coAuthor is the line that names the agent and its model; empty for a plain
// command, which is no author.
func (w Work) coAuthor() string {
	if len(w.Agent.Call.Command) > 0 {
		return ""
	}
	name := cmp.Or(w.Agent.Call.Agent, w.Kind)
	if r := w.Agent.Result(); r != nil && r.Done().Model != "" {
		name += " (" + r.Done().Model + ")"
	} else if model := w.Agent.Now().Model; model != "" {
		name += " (" + model + ")"
	}
	return fmt.Sprintf("Co-authored-by: %s <%s>", plain(name), address(w.Kind))
}

// plain is a name without signs that end it in a trailer.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>", r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
}

// subject is the subject of the commit: that of the role commit, if it gave any.
// The label of an alternative is only its number.
func (w Work) subject() string {
	if named, _ := w.Agent.Subject(w.Patch.Commit); named != "" {
		return named
	}
	if len(w.Agent.Call.Ticket) > 0 && w.Agent.Call.Title != "" {
		return w.Agent.Call.Title
	}
	if w.Agent.Call.Group == "" {
		return w.Title
	}
	call := *w.Agent.Call
	return cmp.Or(call.Title, task.FirstLine(task.Prompt(call.Input)), strings.Join(call.Command, " "), string(w.Agent.ID))
}

// SplitMessage splits a message into its first line and the rest.
func SplitMessage(text string) (subject, body string) {
	subject, body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(subject), strings.TrimSpace(body)
}

// CheckTrailer refuses a text that is no line "Key: value".
func CheckTrailer(text string) error {
	key, value, ok := strings.Cut(text, ":")
	bad := func(r rune) bool {
		return r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}
	if !ok || key == "" || strings.ContainsFunc(key, bad) || strings.TrimSpace(value) == "" ||
		strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("want one line such as \"Refs: #12\"")
	}
	return nil
}

// Trailer is a trailer in the form that git writes: a space after the colon.
func Trailer(text string) string {
	key, value, _ := strings.Cut(text, ":")
	return key + ": " + strings.TrimSpace(value)
}
