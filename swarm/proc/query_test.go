package proc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	env, dir := []string{"PATH=" + os.Getenv("PATH"), "GREETING=hi"}, t.TempDir()
	ask := func(ctx context.Context, script string) (string, error) {
		return Query(ctx, QueryRequest{Argv: []string{"sh", "-c", script}, Env: env, Dir: dir})
	}
	if said, err := ask(t.Context(), `echo $GREETING; pwd; echo err >&2; cat`); err != nil || said != "hi\n"+dir+"\nerr\n" {
		t.Errorf("Query = %q, %v, want both streams and an empty input", said, err)
	}
	if said, err := ask(t.Context(), `echo no; exit 3`); err == nil || said != "no\n" {
		t.Errorf("Query of one that fails = %q, %v, want an error", said, err)
	}
	if said, err := ask(t.Context(), `head -c 1000000 /dev/zero`); err != nil || len(said) != querySize {
		t.Errorf("Query of one that says much = %d bytes, %v, want %d", len(said), err, querySize)
	}
	if _, err := Query(t.Context(), QueryRequest{Argv: []string{"no-such-program"}, Env: env, Dir: dir}); err == nil {
		t.Error("Query of nothing = nil, want an error")
	}
}

// TestHearLate: output is heard even if the reader comes too late.
func TestHearLate(t *testing.T) {
	t.Parallel()
	near, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	defer far.Close() // somebody holds it open
	want := strings.Repeat("said\n", 2000)
	if _, err := far.WriteString(want); err != nil {
		t.Fatal(err)
	}
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if Drain(near, &got); got.String() != want {
		t.Errorf("heard %d bytes, want %d", got.Len(), len(want))
	}
}

// TestQueryEnds: neither a program that does not answer nor its children
// outlive the query.
func TestQueryEnds(t *testing.T) {
	t.Parallel()
	env, dir := []string{"PATH=" + os.Getenv("PATH")}, t.TempDir()
	for name, script := range map[string]string{
		"deaf":      `trap '' TERM; exec 9<>fifo; : > started; sleep 600`,
		"leaves on": `(exec 9<>fifo; : > started; sleep 600) & echo 1.2.3; while [ ! -e started ]; do :; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			fifo := filepath.Join(dir, "fifo")
			if err := mkfifo(fifo); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "deaf" {
				go func() {
					for {
						if _, err := os.Stat(filepath.Join(dir, "started")); err == nil || t.Context().Err() != nil {
							cancel()
							return
						}
						time.Sleep(time.Millisecond) // a poll: a shell sends no notice
					}
				}()
			}
			said, err := Query(ctx, QueryRequest{Argv: []string{"sh", "-c", script}, Env: env, Dir: dir})
			if name == "deaf" && err == nil || name != "deaf" && (err != nil || said != "1.2.3\n") {
				t.Errorf("Query = %q, %v", said, err)
			}
			// The other end is closed: a writer that does not wait is refused.
			for {
				if !hasReader(fifo) {
					return
				}
				if t.Context().Err() != nil {
					t.Fatal("something still waits")
				}
				time.Sleep(time.Millisecond) // a poll: the kernel sends no notice
			}
		})
	}
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// hasReader reports whether somebody waits at a pipe to read from it.
func hasReader(fifo string) bool {
	fd, err := syscall.Open(fifo, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = syscall.Close(fd)
	return true
}
