package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// dialect matches private words for things that have a term in the field: sandbox
// for walls, running for at work, message for word, concurrency limit, level, space.
var dialect = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(walls?|yards?|purses?|bricks|at work|rungs?|blanks?)\b|\bthe ear\b|\basked about\b|\bbrings along\b|\b(a|no) word (to|of)\b|\btakes? words\b|\bsend it a word\b|\bover the shoulder\b|\bnobody\b|\bgone on with\b|^What was said\b|\bof yours is\b`)
})

// TestMessagesUseTheTermsOfTheField reads the texts in the program: messages,
// help, prompts. A literal with a space in it is a text. Fixtures of tests and the
// simulated model server are no part of the program.
func TestMessagesUseTheTermsOfTheField(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"merge", "risk", "roles", "swarm", "variants", "worktree"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || path == filepath.Join("swarm", "modeltest")):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
				return nil
			}
			for _, found := range dialectIn(t, path) {
				t.Error(found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// dialectIn lists the texts of a Go file that use private words, with their
// positions.
func dialectIn(t *testing.T, path string) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		value, err := strconv.Unquote(text.Value)
		if err != nil || !strings.Contains(value, " ") {
			return true
		}
		if word := dialect().FindString(value); word != "" {
			found = append(found, set.Position(text.Pos()).String()+": "+strconv.Quote(word)+" in "+text.Value)
		}
		return true
	})
	return found
}

// TestCommentsNameThings counts two words that stand where a noun should: "what"
// and "one". The bounds are per 1,000 words of comments.
func TestCommentsNameThings(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile(`[A-Za-z']+`)
	total, counts := 0, map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, word := range words.FindAllString(strings.ToLower(group.Text()), -1) {
				total++
				counts[word]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for word, most := range map[string]float64{"what": 3, "one": 4} {
		if rate := float64(counts[word]) * 1000 / float64(total); rate > most {
			t.Errorf("%q stands %.1f times in 1,000 words of comments, want at most %.0f", word, rate, most)
		}
	}
}
