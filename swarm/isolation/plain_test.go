package isolation

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/swarm/box"
	"agentswarm/swarm/privatehome"
)

// TestPlainFilesAreHidden: each file of which agents see a copy without credentials is
// hidden itself.
func TestPlainFilesAreHidden(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range privatehome.PlainNames() {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if hidden := box.Hidden(box.Place{Home: home, Getenv: func(string) string { return "" }}); !slices.Contains(hidden, path) {
			t.Errorf("~/%s is not hidden", name)
		}
	}
}
