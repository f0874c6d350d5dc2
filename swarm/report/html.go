package report

import (
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed report.html
var page string

// HTML writes the report as a page that needs no other file.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"text": visible, "list": func(all []string) string { return visible(strings.Join(all, ", ")) },
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// visible shows characters that are not printed, such as those that turn the
// direction of text, as escapes. Line ends and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case unicode.IsPrint(c) || c == '\n' || c == '\t':
			b.WriteRune(c)
		default:
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}
