package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// nextOwner is a closer after which another process owns the run, and reserves.
type nextOwner struct{ reserve string }

func (n nextOwner) Close() error {
	if _, err := os.Stat(n.reserve); err == nil {
		return errors.New("the reserve is still there")
	}
	return os.WriteFile(n.reserve, nil, 0o600)
}

// TestGiveUp leaves the reserve of the next owner alone.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reserve := filepath.Join(dir, "reserve")
	if err := os.WriteFile(reserve, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("a cause")
	if err := giveUp(dir, nextOwner{reserve}, cause); !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("giveUp = %v, want the cause alone", err)
	}
	if _, err := os.Stat(reserve); err != nil {
		t.Errorf("the next owner's reserve: %v", err)
	}
}
