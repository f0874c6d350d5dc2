// Package nearest finds the known word that a mistyped word most likely means.
//
// It owns how mistakes are counted. Its callers own the messages about the
// word, and a closer bound for a special place.
package nearest

import "unicode/utf8"

// tooLong is the length in bytes from which a text is no typing mistake, and
// comparing it only costs time.
const tooLong = 100

// Word is the first of the known words that is nearest to the given word, or
// nothing if none is near. A slip is allowed, and another for every four
// letters.
func Word(word string, known []string) string {
	if len(word) > tooLong {
		return ""
	}
	best, limit := "", 1+utf8.RuneCountInString(word)/4
	for _, k := range known {
		// As many slips as it has letters turn any word into k.
		if len(k) > tooLong || k == word {
			continue
		}
		if d := Distance(word, k); d <= limit && d < utf8.RuneCountInString(k) {
			best, limit = k, d-1
		}
	}
	return best
}

// Distance counts the letters to insert, drop, replace, or swap with their
// neighbour to get from a to b (optimal string alignment).
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before []int // the row above prev, for swaps
	prev := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(t)]
}
