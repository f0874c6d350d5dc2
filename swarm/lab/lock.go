package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile is locked while a lab runs in its folder. The kernel unlocks it at
// the end of a process, in any case.
func (p *Plan) lockFile() string { return filepath.Join(p.Dir, "lock") }

// hold takes the folder: two labs would do the same tasks in the same places.
func (p *Plan) hold() error {
	f, err := os.OpenFile(p.lockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return &RefusedError{
			Text:   fmt.Sprintf("%s: another lab is running there%s", p.Dir, owner(f)),
			Advice: "wait until it has ended, or give another folder with --out",
		}
	}
	// The process id is for that message alone.
	if f.Truncate(0) == nil {
		fmt.Fprintln(f, os.Getpid())
	}
	p.lock = f
	return nil
}

// owner is which process has signed a lock.
func owner(f *os.File) string {
	var text [32]byte
	n, _ := f.ReadAt(text[:], 0)
	if pid := strings.TrimSpace(string(text[:n])); pid != "" {
		return ", process " + pid
	}
	return ""
}

// Close leaves the folder to others.
func (p *Plan) Close() error {
	if p.lock == nil {
		return nil
	}
	f := p.lock
	p.lock = nil
	// A child that has not reached its exec still holds the lock of a file that
	// is only closed.
	return errors.Join(flock(f, syscall.LOCK_UN), f.Close())
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
