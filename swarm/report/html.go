package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"agentswarm/internal/termtext"
)

//go:embed report.html
var page string

// HTML writes the report as a page that needs no other file.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"text": termtext.Text, "list": func(all []string) string { return termtext.Text(strings.Join(all, ", ")) },
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}
