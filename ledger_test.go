package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A ledger is a folder outside of every workspace. Agents record their actions
// there, each on the disk before the next action. From it a test knows the
// agent's writes, also after a kill:
//
//	starts              "a1 1": a line for each attempt that began
//	ends                the same for each that came to its end
//	notes/a1.1          "did N": the N-th write of the attempt is done
//	die/a1              "agent 3", "polite 3", "deaf 3" or "flood 3": the
//	                    agent's action before its third write, once
//	paused/a1           that has come to pass
type ledger string

func (l ledger) path(names ...string) string {
	return filepath.Join(append([]string{string(l)}, names...)...)
}

// note appends a line and waits until it is on the disk.
func (l ledger) note(name, line string) error {
	f, err := os.OpenFile(l.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}

func (l ledger) lines(name string) []string {
	text, err := os.ReadFile(l.path(name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// ledgerWrite is the path and the text of an agent's N-th write. It depends on
// nothing else, so every successful attempt leaves the same files.
func ledgerWrite(agent string, n int) (path, text string) {
	text = fmt.Sprintf("%s wrote %d\n", agent, n)
	if n%3 == 0 {
		return fmt.Sprintf("%s.d/%d.txt", agent, n), text
	}
	return agent + ".txt", text
}

// ledgerSteps is the agent of the steps `ledger:DIR:WRITES`.
func ledgerSteps(dir, writes string) error {
	l := ledger(dir)
	agent, attempt := os.Getenv("SWARM_AGENT"), os.Getenv("SWARM_ATTEMPT")
	count, err := strconv.Atoi(writes)
	if err == nil {
		err = l.note("starts", agent+" "+attempt)
	}
	if err == nil {
		// It outlives whatever does not look for it, in a session of its own.
		err = fakeStep("fork:" + dir)
	}
	for n := 1; err == nil && n <= count; n++ {
		if err = l.obey(agent, attempt, n); err != nil {
			break
		}
		path, text := ledgerWrite(agent, n)
		if err = appendSynced(path, text); err == nil {
			err = l.note(filepath.Join("notes", agent+"."+attempt), fmt.Sprintf("did %d", n))
		}
	}
	if err == nil {
		err = l.note("ends", agent+" "+attempt)
	}
	return err
}

// order has an agent do something before its N-th write.
func (l ledger) order(agent, what string, n int) error {
	return os.WriteFile(l.path("die", agent), fmt.Appendf(nil, "%s %d", what, n), 0o644)
}

// obey carries out a test's order before the N-th write. The agent kills itself
// with -9, waits for its end with or without a handler for SIGTERM, or fills
// the disk. It happens once.
func (l ledger) obey(agent, attempt string, n int) error {
	order := l.path("die", agent)
	text, err := os.ReadFile(order)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	what, at, _ := strings.Cut(string(text), " ")
	if err != nil || at != strconv.Itoa(n) {
		return err
	}
	if what == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	if err := os.Rename(order, l.path("paused", agent)); err != nil {
		return err
	}
	switch what {
	case "agent":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "flood":
		return l.flood(agent, attempt)
	default:
		for {
			time.Sleep(time.Hour) // until it is killed
		}
	}
}

// floodBlock is how much a flood writes at once.
const floodBlock = 64 << 10

// flood writes until there is no room left, and notes how much it wrote: after
// each MiB, and at the end.
func (l ledger) flood(agent, attempt string) error {
	f, err := os.Create(agent + ".flood")
	if err != nil {
		return err
	}
	defer f.Close()
	noise := rand.NewChaCha8([32]byte{})
	block := make([]byte, floodBlock)
	for size := 0; ; {
		_, _ = noise.Read(block) // never fails, says its documentation
		n, err := f.Write(block)
		size += n
		if err != nil || size%(1<<20) == 0 {
			err = errors.Join(err, l.note("flood", fmt.Sprintf("%s.%s %d", agent, attempt, size)))
		}
		if err != nil {
			return err
		}
	}
}

func appendSynced(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
