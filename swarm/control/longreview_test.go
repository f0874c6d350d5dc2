package control

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// codemod is a review of agents whose patches have edits of long paths.
func codemod(agents, edits int, reason string) *Review {
	r := &Review{}
	for i := range agents {
		id := task.ID(fmt.Sprintf("a%d", i+1))
		record := event.EditsReviewed{Agent: id, Attempt: 1, Verdict: task.Accepted, Reason: reason}
		for k := range edits {
			record.Edits = append(record.Edits, task.EditKey{
				Path: fmt.Sprintf("%s/%d.go", strings.Repeat("d", 80), k), Exact: "0123456789abcdef", Sum: "0123456789abcdef", Nth: 1,
			})
		}
		r.Edits = append(r.Edits, record)
		r.Marks = append(r.Marks, event.Reviewed{Agent: id, Attempt: 1, Verdict: task.Accepted, Reason: reason})
	}
	return r
}

// TestLongReview: a review of any number of patches and edits is carried out as
// a whole.
func TestLongReview(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]*Review{
		"one large patch":         codemod(1, 6000, ""),
		"a large patch and more":  codemod(3, 2000, "r"),
		"many patches":            codemod(100, 60, "r"),
		"long reasons":            codemod(100, 3, strings.Repeat("r", 10<<10)),
		"verdicts on edits alone": {Edits: codemod(2, 3000, "r").Edits},
		"marks alone":             {Marks: codemod(1000, 0, strings.Repeat("r", 600)).Marks},
	} {
		if line, err := encodeRequest(give, ""); err != nil || len(line) <= maxLine {
			t.Fatalf("%s: %d bytes, %v: this fits a line", name, len(line), err)
		}
		g := &target{}
		_, r, runtime := listening(t, g)
		c := dialed(t, r, runtime)
		if err := c.Ask(t.Context(), give); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(g.carried, []Request{give}) {
			t.Errorf("%s: %d requests are carried out, want one that is equal", name, len(g.carried))
		}
		if _, err := c.Ping(t.Context()); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}

// TestReviewWithoutItsEnd: no part of a review is carried out alone.
func TestReviewWithoutItsEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ next, want string }{
		"a faulty line":   {`{"secret":%q}` + "\n", "unknown verb"},
		"another request": {`{"verb":"stop","secret":%q}` + "\n", "the rest of a review is missing"},
	} {
		g := &target{}
		s, _, _ := listening(t, g)
		lines, err := encodeLines(codemod(1, 6000, ""), s.secret)
		if err != nil || len(lines) < 3 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		conn, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		c := &Client{run: s.run, conn: conn.(*net.UnixConn), lines: bufio.NewReader(conn)}
		if _, err := c.exchange(t.Context(), lines[0]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = c.exchange(t.Context(), fmt.Appendf(nil, tt.next, s.secret))
		if a, ok := errors.AsType[*AnswerError](err); !ok || !strings.Contains(a.Message, tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		if _, err := c.exchange(t.Context(), lines[len(lines)-1]); err == nil {
			t.Errorf("%s: the rest alone is carried out", name)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if len(g.carried) != 0 {
			t.Errorf("%s: %d requests are carried out", name, len(g.carried))
		}
	}
}

// TestReviewHasABound: a server holds no more than a number of bytes.
func TestReviewHasABound(t *testing.T) {
	t.Parallel()
	var d draft
	part := &Review{Marks: []event.Reviewed{{Agent: "a1"}}, more: true}
	if r, err := d.add(part, maxReview); r != nil || err != nil {
		t.Fatalf("add = %v, %v", r, err)
	}
	if _, err := d.add(part, 1); err == nil || !d.open() {
		t.Errorf("one more byte: %v", err)
	}
}
