package store

import (
	"errors"
	"fmt"
	"os"
)

// Tail is the view of a run for a reader who looks at it again and again: each
// look reads only the text written since the last. It belongs to a single
// goroutine.
type Tail struct {
	run  *Run
	from *tailer // nil before the first look, and after a journal that was odd
	view *View
}

// Tail begins to look at the run. It must be closed.
func (r *Run) Tail() *Tail { return &Tail{run: r} }

// View returns the current state of the run, as [Run.View] does. The next look
// changes the returned value.
func (t *Tail) View() (*View, error) {
	var last int64 = -1
	for {
		if err := t.look(); err != nil {
			return nil, err
		}
		if t.view.Status != RunRunning || t.run.Live() {
			return t.view, nil
		}
		// As in [Run.View], two looks must agree. The view itself continues:
		// another owner may open the run.
		if t.view.Last == last {
			died := *t.view
			died.Status, died.Reason, died.Died = RunStopped, ReasonDied, true
			return &died, nil
		}
		last = t.view.Last
	}
}

// Close ends it.
func (t *Tail) Close() error {
	if t.from == nil {
		return nil
	}
	err := t.from.f.Close()
	t.from = nil
	return err
}

// look reads the new text. If the journal is another file, it reads all of it.
func (t *Tail) look() error {
	if t.from != nil && t.more() == nil {
		return nil
	}
	if err := errors.Join(t.Close(), t.begin()); err != nil {
		return err
	}
	if err := t.more(); err != nil {
		// A file that was odd once is read anew each time.
		return errors.Join(err, t.Close())
	}
	return nil
}

func (t *Tail) begin() error {
	id, err := t.run.Identity()
	if err != nil {
		return err
	}
	f, err := t.run.OpenFile(t.run.Journal(), os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("read journal of run %s: %w", t.run.ID, err)
	}
	t.from = &tailer{reader: reader{file: t.run.Journal()}, f: f}
	t.view = Fold(id, nil)
	return nil
}

// errReplaced says that another file is in the place of the journal.
var errReplaced = errors.New("another file is in the place of the journal")

func (t *Tail) more() error {
	ours, err := t.from.f.Stat()
	if err != nil {
		return fmt.Errorf("read journal of run %s: %w", t.run.ID, err)
	}
	named, err := os.Lstat(t.run.Journal())
	if err != nil {
		return fmt.Errorf("read journal of run %s: %w", t.run.ID, err)
	}
	if !os.SameFile(ours, named) {
		return errReplaced
	}
	records, err := t.from.more()
	for _, r := range records {
		t.view.Apply(r)
	}
	return err
}
