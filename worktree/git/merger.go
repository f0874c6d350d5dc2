package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Merger merges pairs of commits like [Quarantine.MergeTree], by a single `git
// merge-tree --stdin` that stays alive: a merge without a conflict needs a
// tenth of the time.
//
// If that process fails or does not answer, Merger calls [Quarantine.MergeTree]
// and returns its result. So the result of a merge does not depend on the way
// it was made.
//
// Merger serves a single goroutine at a time. The caller must close it.
type Merger struct {
	q    *Quarantine
	live *mergeProcess // nil: none runs
	// patience is how long an answer may be on its way.
	patience time.Duration
	// failed counts merges in a row that the process had no answer for.
	failed int
	// asked and fresh count the merges of either way, for tests.
	asked, fresh int
}

// mergePatience is how long an answer may take before the process's input is
// closed. Without it swarm would wait without end for a git that keeps answers
// in a buffer. A git that is only slow is started again.
const mergePatience = 3 * time.Second

// mergeFailures is how many merges in a row may fail before the process is
// given up: each costs a start for nothing.
const mergeFailures = 3

// Merger prepares merges. It starts no process before the first merge.
func (q *Quarantine) Merger() *Merger { return &Merger{q: q, patience: mergePatience} }

// Close ends the process.
func (m *Merger) Close() error {
	if m.live == nil {
		return nil
	}
	err := m.live.close()
	m.live = nil
	return err
}

// Merge merges two commits from their common ancestor, in memory. All that
// [Quarantine.MergeTree] says of its result and its errors holds here.
func (m *Merger) Merge(ctx context.Context, ours, theirs Hash) (*MergeResult, error) {
	if result, ok := m.ask(ctx, ours, theirs); ok {
		m.asked++
		return result, nil
	}
	m.fresh++
	return m.q.MergeTree(ctx, ours, theirs)
}

// ask requests a merge from the live process. It does not use a process again
// that failed.
func (m *Merger) ask(ctx context.Context, ours, theirs Hash) (*MergeResult, bool) {
	if !m.q.repo.named(ours) || !m.q.repo.named(theirs) {
		return nil, false // a line of its input must be two names
	}
	if m.failed >= mergeFailures {
		return nil, false
	}
	if m.live == nil {
		p, err := m.q.mergeProcess(ctx)
		if err != nil {
			return nil, false
		}
		m.live = p
	}
	result, err := m.live.merge(ctx, pair{ours, theirs}, m.patience)
	if m.live.broken {
		// A merge of its own will show the error.
		_ = m.Close()
	}
	if err != nil {
		m.failed++
		return nil, false
	}
	m.failed = 0
	return result, true
}

// pair is the two commits of a merge.
type pair struct{ ours, theirs Hash }

// mergeProcess is a `git merge-tree --stdin`.
type mergeProcess struct {
	*talk
	answers mergeStream
}

// mergeProcess starts the process.
func (q *Quarantine) mergeProcess(ctx context.Context) (*mergeProcess, error) {
	t, err := q.talk(ctx, Cmd{
		// Messages are always requested: git 2.39 prints them anyway after a
		// conflict. Only after them it prints its remaining output.
		Args:   []string{"merge-tree", "--stdin", "--messages"},
		Config: append(mergeConfig(), "merge.renames=true", "diff.renames=true"),
	})
	if err != nil {
		return nil, err
	}
	return &mergeProcess{talk: t, answers: mergeStream{text: t.out}}, nil
}

// merge requests a single merge.
func (p *mergeProcess) merge(ctx context.Context, give pair, patience time.Duration) (*MergeResult, error) {
	defer p.asking(ctx)()
	if err := p.send(give); err != nil {
		return nil, err
	}
	hurry := time.AfterFunc(patience, func() { _ = p.in.Close() })
	defer func() { p.broken = !hurry.Stop() || p.broken }()
	m, err := p.answers.begin()
	if err != nil {
		return nil, err
	}
	if m.Clean {
		p.broken = false
		return m, nil
	}
	// The end of an answer shows only by the bytes after it. A merge of a
	// commit with itself makes such bytes; so does the end of the output.
	followed := p.send(pair{give.theirs, give.theirs})
	if err := p.answers.rest(m); err != nil {
		return nil, err
	}
	if followed == nil {
		_, followed = p.answers.begin()
	}
	p.broken = followed != nil
	return m, nil
}

func (p *mergeProcess) send(give pair) error {
	_, err := fmt.Fprintf(p.in, "%s %s\n", give.ours, give.theirs)
	return err
}

// mergeStream reads the answers of `merge-tree --stdin --messages`. Each is "1"
// for clean or "0", the tree, the versions in conflict, an empty field,
// messages, and an empty field. Advice about submodules, in a single field, may
// stand in place of the last.
type mergeStream struct {
	text *bufio.Reader
	owed bool // the answer that began last has not been read to its end
}

// fieldLimit bounds a field that is read into memory: a path, or a message.
const fieldLimit = 1 << 20

func (s *mergeStream) field() (string, error) {
	var b strings.Builder
	for {
		part, err := s.text.ReadSlice(0)
		b.Write(part)
		switch {
		case err == nil:
			return strings.TrimSuffix(b.String(), "\x00"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case b.Len() > fieldLimit:
			return "", fmt.Errorf("git merge-tree: a field of more than %d bytes", fieldLimit)
		}
	}
}

// begin reads the next answer so far as it is needed to know whether it is
// clean.
func (s *mergeStream) begin() (*MergeResult, error) {
	if s.owed {
		if err := s.rest(&MergeResult{}); err != nil {
			return nil, err
		}
	}
	clean, err := s.field()
	if err != nil {
		return nil, err
	}
	if clean != "0" && clean != "1" {
		return nil, fmt.Errorf("git merge-tree: unexpected answer %.80q", clean)
	}
	name, err := s.field()
	if err != nil {
		return nil, err
	}
	tree, err := parseTreeName(name)
	if err != nil {
		return nil, err
	}
	s.owed = true
	return &MergeResult{Tree: tree, Clean: clean == "1"}, nil
}

// rest reads an answer to its end.
func (s *mergeStream) rest(m *MergeResult) error {
	for {
		rec, err := s.field()
		if err != nil {
			return err
		}
		if rec == "" {
			break
		}
		stage, err := parseStage(rec)
		if err != nil {
			return err
		}
		m.Stages = append(m.Stages, stage)
	}
	for {
		head, err := s.field()
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(head)
		if err != nil {
			s.owed = false // an empty field, or advice
			return nil
		}
		if n < 0 || n > fieldLimit {
			return errors.New("git merge-tree: unexpected count of paths")
		}
		msg, err := s.message(n)
		if err != nil {
			return err
		}
		m.Messages = append(m.Messages, msg)
	}
}

// message reads the rest of a message about n paths.
func (s *mergeStream) message(n int) (msg MergeMessage, err error) {
	for range n {
		path, err := s.field()
		if err != nil {
			return msg, err
		}
		msg.Paths = append(msg.Paths, path)
	}
	if msg.Kind, err = s.field(); err != nil {
		return msg, err
	}
	text, err := s.field()
	msg.Text = strings.TrimSuffix(text, "\n")
	return msg, err
}
