package mcp

import (
	"fmt"
	"strings"
)

// unfence returns the script in a Markdown code fence. The line of the fence
// becomes empty, so that messages name the lines that the model wrote. Comments may
// stand before it. Code without a fence is returned as it is. A fence that has no
// end, or text around it, is an error with the line.
func unfence(code string) (string, error) {
	lines := strings.Split(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	open := behindComments(lines)
	if open < 0 {
		return code, nil
	}
	mark, tag := fenceOf(lines[open])
	if isOneLine(lines[open]) {
		return "", fmt.Errorf("code:%d: a Markdown fence on one line; send the script alone, or put the fences on lines of their own", open+1)
	}
	if mark == "" {
		return code, proseBefore(lines)
	}
	if !isScriptTag(tag) {
		return "", fmt.Errorf("code:%d: a fence for %q: want a JavaScript program", open+1, tag)
	}
	end := -1
	for i := open + 1; i < len(lines) && end < 0; i++ {
		if closes(lines[i], mark) {
			end = i
		}
	}
	if end < 0 {
		return "", fmt.Errorf("code:%d: the Markdown fence that begins here has no end", open+1)
	}
	if after := firstText(lines, end+1); after >= 0 {
		return "", fmt.Errorf("code:%d: text follows the Markdown fence of the script; send the script alone", after+1)
	}
	lines[open] = ""
	return strings.Join(lines[:end], "\n"), nil
}

// proseBefore refuses text in front of a fence that says it holds JavaScript.
// Other fences, and a program that begins with a comment, are left to the parser:
// such a fence may stand in a comment.
func proseBefore(lines []string) error {
	first := firstText(lines, 0)
	if begin := strings.TrimSpace(lines[first]); strings.HasPrefix(begin, "//") || strings.HasPrefix(begin, "/*") {
		return nil
	}
	for i, line := range lines {
		if mark, tag := fenceOf(line); mark != "" && tag != "" && isScriptTag(tag) {
			return fmt.Errorf("code:%d: text stands before the Markdown fence in line %d; send the script alone", first+1, i+1)
		}
	}
	return nil
}

// behindComments returns the index of the first line that is neither blank nor in a
// comment that whole lines hold; -1 if there is none.
func behindComments(lines []string) int {
	i := firstText(lines, 0)
	for i >= 0 {
		switch line := strings.TrimSpace(lines[i]); {
		case strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "/*"):
			for rest := line[2:]; ; rest = lines[i] {
				if _, after, ends := strings.Cut(rest, "*/"); ends && strings.TrimSpace(after) != "" {
					return i
				} else if ends {
					break
				}
				if i++; i == len(lines) {
					return -1
				}
			}
		default:
			return i
		}
		i = firstText(lines, i+1)
	}
	return i
}

// fenceOf splits a line that opens a fence into its marks and the first word
// behind them. mark is empty for any other line.
func fenceOf(line string) (mark, tag string) {
	line = strings.TrimSpace(line)
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			tag, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
			return line[:n], strings.ToLower(tag)
		}
	}
	return "", ""
}

// isOneLine reports whether a line is a fence with its text and its end. No script
// begins so: in JavaScript it is a template that is called.
func isOneLine(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"```", "~~~"} {
		inner := strings.Trim(line, mark[:1])
		if strings.HasPrefix(line, mark) && strings.HasSuffix(line, mark) && strings.TrimSpace(inner) != "" {
			return true
		}
	}
	return false
}

// closes reports whether a line ends a fence: at least as many of the same
// marks, and nothing else.
func closes(line, mark string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(mark) && strings.Trim(line, mark[:1]) == ""
}

// isScriptTag reports whether a fence may hold a script.
func isScriptTag(tag string) bool {
	switch tag {
	case "", "js", "javascript", "mjs", "jsx", "ecmascript", "workflow":
		return true
	default:
		return false
	}
}

// firstText returns the index of the first line from the given index that is
// not blank; -1 if there is none.
func firstText(lines []string, from int) int {
	for i := from; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			return i
		}
	}
	return -1
}
