package nearest

import "fmt"

// DidYouMean is the end of a message about an unknown word: it names the known word
// nearest to it, and is empty if none is near.
func DidYouMean(word string, known []string) string {
	if near := Word(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
