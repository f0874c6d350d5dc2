package pullrequest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	codeowners "github.com/hairyhenderson/go-codeowners"

	"agentswarm/worktree/git"
)

// ErrNoOwners says that a repository has no CODEOWNERS file.
var ErrNoOwners = errors.New("the repository has no CODEOWNERS file")

// ownerFiles are the places of the file, in the order in which GitHub and GitLab look
// for it: https://docs.github.com/articles/about-code-owners and
// https://docs.gitlab.com/user/project/codeowners/.
func ownerFiles() []string {
	return []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}
}

// mostOwners bounds a CODEOWNERS file, in bytes. GitHub ignores larger ones.
const mostOwners = 3 << 20

// Owners reads the CODEOWNERS file of a commit. The result names the owners of a
// file. The error is [ErrNoOwners] where there is none.
func Owners(ctx context.Context, q *git.Quarantine, commit git.Hash) (func(file string) []string, error) {
	entries, _, err := q.Tree(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("look for CODEOWNERS: %w", err)
	}
	for _, name := range ownerFiles() {
		at := slices.IndexFunc(entries, func(e git.Entry) bool { return e.Path == name })
		if at < 0 {
			continue
		}
		text, err := blob(ctx, q, entries[at].ID)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return parseOwners(text)
	}
	return nil, ErrNoOwners
}

// unowned stands for no owner. GitHub takes a pattern without owners for files
// without an owner; the parser leaves such patterns out.
const unowned = "\x01unowned"

// mostOwnersLine is the longest line that the parser reads whole, in bytes.
const mostOwnersLine = bufio.MaxScanTokenSize - len(unowned) - 2

// parseOwners reads the text of a CODEOWNERS file.
func parseOwners(text []byte) (func(file string) []string, error) {
	var whole bytes.Buffer
	section := false
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(line) > mostOwnersLine {
			return nil, fmt.Errorf("CODEOWNERS: line %d is longer than %d bytes", i+1, mostOwnersLine)
		}
		section = section || bytes.HasPrefix(line, []byte("[")) || bytes.HasPrefix(line, []byte("^"))
		fields := bytes.Fields(line)
		if !section && len(fields) > 0 && fields[0][0] != '#' && (len(fields) == 1 || fields[1][0] == '#') {
			line = append(slices.Clone(fields[0]), " "+unowned...)
		}
		whole.Write(line)
		whole.WriteByte('\n')
	}
	owners, err := codeowners.FromReader(&whole, "")
	if err != nil {
		return nil, fmt.Errorf("CODEOWNERS: %w", err)
	}
	return func(file string) []string {
		return slices.DeleteFunc(slices.Clone(owners.Owners(file)), func(owner string) bool { return owner == unowned })
	}, nil
}

func blob(ctx context.Context, q *git.Quarantine, id git.Hash) ([]byte, error) {
	objects := q.Objects()
	text, err := objects.Blob(ctx, id, mostOwners)
	return text, errors.Join(err, objects.Close())
}
