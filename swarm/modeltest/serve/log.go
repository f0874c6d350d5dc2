package main

import (
	"encoding/json"
	"errors"
	"os"

	"agentswarm/swarm/modeltest"
)

// write leaves the requests in a file that only its owner reads: prompts may
// hold secrets.
func write(file string, requests []modeltest.Request) (err error) {
	if file == "" {
		return nil
	}
	to, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	lines := json.NewEncoder(to)
	for _, r := range requests {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
