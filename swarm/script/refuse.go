package script

import "fmt"

// Refuse is the error that a script gets in place of a result.
func Refuse(code Code, format string, args ...any) *Error {
	return &Error{Name: "Error", Code: code, Message: fmt.Sprintf(format, args...)}
}

// Clip shortens a text of a script that a message repeats.
func Clip(text string) string {
	const longest = 200
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
