package attest

import (
	"strings"
	"testing"

	"agentswarm/worktree/git"
)

// TestStatement: a statement names the tree, the commits and the digests of the commands,
// and is read back as it was.
func TestStatement(t *testing.T) {
	t.Parallel()
	s := NewStatement(Landing{
		Commits: []git.Hash{"1111", "2222"}, Tree: "3333", Command: "go test ./...", Setup: "npm ci", Output: "/s/verify.out",
	})
	note, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"_type": "https://in-toto.io/Statement/v1"`, `"predicateType": "https://in-toto.io/attestation/test-result/v0.1"`,
		`"gitTree": "3333"`, `"gitCommit": "1111"`, `"gitCommit": "2222"`, `"result": "PASSED"`, `"url": "file:///s/verify.out"`,
		`"sha256": "` + text("", "go test ./...").Digest["sha256"], `"name": "setup"`,
	} {
		if !strings.Contains(string(note), want) {
			t.Errorf("the note lacks %s:\n%s", want, note)
		}
	}
	if strings.Contains(string(note), "npm ci") {
		t.Errorf("the note has the text of a command:\n%s", note)
	}
	back, err := Read(note)
	if err != nil || len(back.Subject) != 3 || back.Predicate.Result != "PASSED" {
		t.Errorf("Read = %+v, %v; want the statement", back, err)
	}
	for _, bad := range []string{"", "text of a person", `{"_type":"x"}`} {
		if _, err := Read([]byte(bad)); err == nil {
			t.Errorf("Read(%q) succeeded", bad)
		}
	}
}
