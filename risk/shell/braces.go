package shell

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands brace expressions, up to a number of words.
type braces struct {
	left int
	size int // of the result, in parts
}

// expand are the words that parts make.
func (b *braces) expand(parts []syntax.WordPart) [][]syntax.WordPart {
	words := [][]syntax.WordPart{nil}
	for _, part := range parts {
		x, ok := part.(*syntax.BraceExp)
		if !ok {
			for i := range words {
				words[i] = append(words[i], part)
			}
			b.size += len(words)
			continue
		}
		var choices [][]syntax.WordPart
		if x.Sequence {
			choices = b.sequence(x)
		} else {
			for _, elem := range x.Elems {
				choices = append(choices, b.expand(elem.Parts)...)
			}
		}
		if b.left -= len(words) * len(choices); b.left <= 0 {
			return nil
		}
		var all [][]syntax.WordPart
		for _, w := range words {
			for _, c := range choices {
				all = append(all, append(append([]syntax.WordPart(nil), w...), c...))
				b.size += len(w) + len(c)
			}
		}
		words = all
	}
	return words
}

// sequence are the words of {1..9} or {a..e..2}.
func (b *braces) sequence(x *syntax.BraceExp) [][]syntax.WordPart {
	text := make([]string, len(x.Elems))
	for i, e := range x.Elems {
		text[i] = e.Lit()
	}
	from, err := strconv.Atoi(text[0])
	to, err2 := strconv.Atoi(text[1])
	letters := err != nil || err2 != nil
	if letters {
		from, to = int(text[0][0]), int(text[1][0])
	}
	step := 1
	if len(text) > 2 {
		step, _ = strconv.Atoi(text[2])
		step = max(step, -step, 1)
	}
	if from < -1<<40 || to < -1<<40 || from > 1<<40 || to > 1<<40 || max(from-to, to-from)/step >= b.left {
		b.left = 0
		return nil
	}
	width := 0
	if pads(text[0]) || pads(text[1]) {
		width = max(len(text[0]), len(text[1]))
	}
	var words [][]syntax.WordPart
	add := func(n int) {
		value := fmt.Sprintf("%0*d", width, n)
		if letters {
			value = string(rune(n))
		}
		words = append(words, []syntax.WordPart{&syntax.SglQuoted{Value: value}})
	}
	for n := from; from <= to && n <= to; n += step {
		add(n)
	}
	for n := from; from > to && n >= to; n -= step {
		add(n)
	}
	return words
}

// pads reports whether a number is written with zeros before it.
func pads(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 1 && text[0] == '0'
}
