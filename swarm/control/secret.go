package control

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"agentswarm/swarm/store"
)

// writeSecret makes the secret of a run, which each of its requests carries. An
// agent in a sandbox reads no file of the run. Its process alone does not give it
// away: before Linux 6.12 it can kill its supervisor where nothing can be mounted.
func writeSecret(run *store.Run) (string, error) {
	secret := rand.Text()
	if err := run.WriteFile(run.Secret(), []byte(secret)); err != nil {
		return "", fmt.Errorf("write the secret of the control socket: %w", err)
	}
	return secret, nil
}

// readSecret reads the secret of a run; empty if its owner wrote none.
func readSecret(run *store.Run) (string, error) {
	text, err := run.ReadFile(run.Secret())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the secret of the control socket: %w", err)
	}
	return string(text), nil
}

// hasSecret reports whether a request carries the secret.
func hasSecret(line []byte, secret string) bool {
	var f struct {
		Secret string `json:"secret"`
	}
	return json.Unmarshal(line, &f) == nil && subtle.ConstantTimeCompare([]byte(f.Secret), []byte(secret)) == 1
}
