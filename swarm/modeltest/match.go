package modeltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// choose returns the first rule that matches, by its index, and its turn with
// the groups of its patterns filled in.
func choose(rules []rule, c *conversation, e earlier) (int, Turn, error) {
	for i, r := range rules {
		if turn, ok := r.match(c, e); ok {
			return i, turn, nil
		}
	}
	user, since := c.user()
	return -1, Turn{}, fmt.Errorf("no rule of the script matches: results %d, since %d, tries %d, model %q, user %q",
		c.results(), since, e.tries, c.model, shorten(user))
}

func shorten(text string) string {
	if len(text) > 300 {
		return text[:300] + "…"
	}
	return text
}

// earlier is a server's knowledge of the requests before the current request.
// tries counts those of the same conversation, and serial numbers all.
type earlier struct{ tries, serial int }

func (r *rule) match(c *conversation, e earlier) (Turn, bool) {
	w := r.When
	user, since := c.user()
	if !is(w.Results, c.results()) || !is(w.Since, since) || !is(w.Tries, e.tries) || !is(w.Serial, e.serial) {
		return Turn{}, false
	}
	if w.Model != "" && w.Model != c.model {
		return Turn{}, false
	}
	var groups []string
	for _, at := range []struct {
		pattern *regexp.Regexp
		text    string
	}{{r.user, user}, {r.system, c.system}, {r.result, c.result()}} {
		if at.pattern == nil {
			continue
		}
		m := at.pattern.FindStringSubmatch(at.text)
		if m == nil {
			return Turn{}, false
		}
		groups = append(groups, m[1:]...)
	}
	return r.expand(groups), true
}

func is(want *int, have int) bool { return want == nil || *want == have }

// expand fills in {1}, {2} … of the text, the arguments and the answer.
func (t Turn) expand(groups []string) Turn {
	if len(groups) == 0 {
		return t
	}
	var plain, inside []string
	for i, g := range groups {
		mark := fmt.Sprintf("{%d}", i+1)
		text := quoted(g)
		plain, inside = append(plain, mark, g), append(inside, mark, text[1:len(text)-1])
	}
	words, encoded := strings.NewReplacer(plain...), strings.NewReplacer(inside...)
	text := make(Pieces, len(t.Text))
	for i, piece := range t.Text {
		text[i] = words.Replace(piece)
	}
	calls := make([]Call, len(t.Calls))
	for i, c := range t.Calls {
		calls[i] = Call{Name: c.Name}
		// The JSON stays JSON, with encoded text in its strings.
		_ = json.Unmarshal([]byte(encoded.Replace(object(c.Args))), &calls[i].Args)
	}
	t.Text, t.Calls, t.Thinking = text, calls, words.Replace(t.Thinking)
	if t.Answer != nil {
		t.Answer = json.RawMessage(encoded.Replace(string(t.Answer)))
	}
	return t
}
