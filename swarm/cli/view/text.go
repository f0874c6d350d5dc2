package view

import "agentswarm/internal/statefile"

// Git10 abbreviates a commit to ten digits.
func Git10(commit string) string { return commit[:min(10, len(commit))] }

// ReadTail returns the last 4 KiB of a file, or an empty text if it cannot be read.
func ReadTail(path string) string {
	text, _, err := statefile.Tail(path, tailSize)
	if err != nil {
		return ""
	}
	return string(text)
}

// tailSize is how much of a file's end show prints, in bytes.
const tailSize = 4 << 10
