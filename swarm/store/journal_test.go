package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/event"
)

func TestAppendAndRead(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	var want []event.Record
	for n := range int64(20) {
		rec, err := o.Append(&event.Text{Text: sample(n) + "\n\u2028<ü>"})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, rec)
	}
	more, err := o.AppendAll([]event.Event{&event.Turn{N: 1}, called(1, "l"), &event.Turn{N: 2}})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, more...)
	got, err := r.Records()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Records = %v, %v, want %v", got, err, want)
	}
	mustClose(t, o)
	if _, err := o.Append(&event.Turn{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close = %v", err)
	}
	again, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, again)
	if !reflect.DeepEqual(again.Records, want) || len(again.Notices) != 0 {
		t.Errorf("a new owner found %v and says %q", again.Records, again.Notices)
	}
	if rec, err := again.Append(&event.Turn{}); err != nil || rec.N != int64(len(want))+1 {
		t.Errorf("a new owner's first record is %d, %v", rec.N, err)
	}
}

// TestKilledAppenderKeepsWhatItAcknowledged kills a writer with -9 after a
// number of records that a seed picks, and lets the next writer continue.
func TestKilledAppenderKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(campaign.Seed(t), 0))
	r, o := created(t, scratch(t))
	mustClose(t, o)
	var last int64
	for range 15 {
		c := play(t, "append", r)
		for range 1 + rng.IntN(30) {
			if c.line() == "" {
				t.Fatal("the child ended by itself")
			}
		}
		if err := c.Kill(); err != nil {
			t.Fatal(err)
		}
		for word := c.line(); word != ""; word = c.line() {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || n <= last {
				t.Fatalf("the child said %q after %d: %v", word, last, err)
			}
			last = n
		}
		if _, err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		records, err := r.Records()
		if err != nil || int64(len(records)) < last {
			t.Fatalf("%d of %d acknowledged records are there: %v", len(records), last, err)
		}
		for _, rec := range records {
			if text := rec.Event.(*event.Text).Text; text != sample(rec.N) {
				t.Fatalf("record %d holds %q", rec.N, text)
			}
		}
		last = int64(len(records))
	}
}

func TestTornEndIsCutAndKept(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Turn{N: 1}, &event.Turn{N: 2}, &event.Turn{N: 3})
	mustClose(t, o)
	whole, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	good := len(whole) - len(lines[2])
	torn := map[string][]byte{
		"zeros":           make([]byte, 5000),
		"a line of zeros": append(make([]byte, 100), '\n'),
		"a changed line":  bytes.Replace(lines[2], []byte(`"n":3`), []byte(`"n":7`), 2),
	}
	for n := 1; n < len(lines[2]); n++ {
		torn[fmt.Sprintf("%d bytes", n)] = lines[2][:n]
	}
	kept := 0
	for name, end := range torn {
		if err := os.WriteFile(r.Journal(), append(whole[:good:good], end...), 0o600); err != nil {
			t.Fatal(err)
		}
		if records, err := r.Records(); err != nil || len(records) != 2 {
			t.Errorf("%s: a reader sees %d records, %v, want 2", name, len(records), err)
		}
		o, err := r.Own(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept++
		file := filepath.Join(r.Dir, fmt.Sprintf("journal.torn.%d", kept))
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, end) {
			t.Errorf("%s: %s holds %q, %v", name, file, got, err)
		}
		if len(o.Notices) != 1 || !strings.Contains(o.Notices[0], file) {
			t.Errorf("%s: the notice is %q", name, o.Notices)
		}
		if rec, err := o.Append(&event.Turn{N: 9}); err != nil || rec.N != 3 {
			t.Errorf("%s: the next record is %d, %v, want 3", name, rec.N, err)
		}
		mustClose(t, o)
		if records, err := r.Records(); err != nil || len(records) != 3 {
			t.Errorf("%s: afterwards there are %d records, %v", name, len(records), err)
		}
	}
}

func TestDamageInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Turn{N: 1}, &event.Turn{N: 2}, &event.Turn{N: 3})
	mustClose(t, o)
	whole, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	newer, err := appendLine(nil, event.Record{N: 2, Event: &event.Turn{N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	body, _ := bareLine(bytes.TrimSpace(newer))
	body = bytes.Replace(body, []byte(`"turn"`), []byte(`"nap"`), 1)
	unknown := fmt.Appendf(nil, `{"crc":"%08x",%s`+"\n", checksum(body), body[1:])
	bad := map[string][]byte{
		"a record left out": slices.Concat(lines[0], lines[2]),
		"a record twice":    slices.Concat(lines[0], lines[0], lines[1]),
		"an empty line":     slices.Concat(lines[0], []byte("\n"), lines[1]),
		"an unknown type":   slices.Concat(lines[0], unknown),
	}
	for at := len(lines[0]); at < len(lines[0])+len(lines[1])-1; at++ {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x04
		bad[fmt.Sprintf("byte %d flipped", at)] = flipped
	}
	for name, text := range bad {
		if err := os.WriteFile(r.Journal(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := r.Records()
		corrupt, ok := errors.AsType[*CorruptError](err)
		if !ok || corrupt.Line != 2 || corrupt.Record != 2 || corrupt.File != r.Journal() {
			t.Errorf("%s: Records = %v, want line 2, record 2", name, err)
		}
		if _, err := r.Own(t.Context()); err == nil || err.Error() != corrupt.Error() {
			t.Errorf("%s: Own = %v", name, err)
		}
		if r.Live() {
			t.Fatalf("%s: a failed opening kept the lock", name)
		}
		if now, err := os.ReadFile(r.Journal()); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("%s: the journal was changed: %v", name, err)
		}
	}
}

func TestFullDiskKeepsTheJournalWhole(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustClose(t, o)
	said := play(t, "full", r).end(t)
	last, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
	if err != nil || last < 5 {
		t.Fatalf("the child said %q", said)
	}
	again, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, again)
	if len(again.Notices) != 0 || int64(len(again.Records)) != last+1 {
		t.Errorf("there are %d records and %q, want %d", len(again.Records), again.Notices, last+1)
	}
}

func TestRoomIsTakenBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	if o.reserved == 0 {
		t.Skip("this file system takes no room in advance")
	}
	room := func() int64 {
		var st syscall.Stat_t
		if err := syscall.Stat(r.Journal(), &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks*512 - st.Size
	}
	for range 40 {
		mustAppend(t, o, &event.Text{Text: strings.Repeat("x", 50_000)})
		if got := room(); got < headroom {
			t.Fatalf("%d bytes ahead, want %d", got, headroom)
		}
	}
	mustClose(t, o)
	if got := room(); got > headroom {
		t.Errorf("a closed journal holds %d bytes it does not need", got)
	}
}

func TestStepStopsAnAppend(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	var seen []string
	stop := errors.New("stop")
	s.Step = func(name string) error {
		seen = append(seen, name)
		if name == "before 2 turn" || name == "after 3 text" {
			return stop
		}
		return nil
	}
	r, o := created(t, s)
	mustAppend(t, o, &event.Turn{})
	if _, err := o.Append(&event.Turn{}); !errors.Is(err, stop) {
		t.Errorf("before: %v", err)
	}
	mustAppend(t, o, &event.Text{})
	if rec, err := o.Append(&event.Text{}); !errors.Is(err, stop) || rec.N != 3 {
		t.Errorf("after: %v, %v", rec, err)
	}
	if records, err := r.Records(); err != nil || len(records) != 3 {
		t.Errorf("%d records, %v, want 3", len(records), err)
	}
	want := []string{"before 1 turn", "after 1 turn", "before 2 turn", "before 2 text", "after 2 text", "before 3 text", "after 3 text"}
	if !slices.Equal(seen, want) {
		t.Errorf("steps = %q, want %q", seen, want)
	}
}

func FuzzRead(f *testing.F) {
	var text []byte
	for n := range int64(3) {
		var err error
		if text, err = appendLine(text, event.Record{N: n + 1, Time: time.Unix(n, 0).UTC(), Event: &event.Turn{N: int(n)}}); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(text)
	f.Add(text[:len(text)-4])
	f.Add([]byte("{\"crc\":\"00000000\",}\n\n"))
	f.Add([]byte(`{"crc":"0000000`))
	f.Fuzz(func(t *testing.T, text []byte) {
		rd := reader{file: "j"}
		records, used, _ := rd.read(text)
		if used > len(text) || int64(len(records)) != rd.last {
			t.Fatalf("read = %d records, %d of %d bytes, last %d", len(records), used, len(text), rd.last)
		}
		// A record that was read is read again, and alone.
		rd = reader{file: "j"}
		again, more, err := rd.read(text[:used])
		if err != nil || more != used || !reflect.DeepEqual(again, records) {
			t.Fatalf("read again = %d records, %d of %d bytes, %v", len(again), more, used, err)
		}
	})
}
