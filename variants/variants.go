// Package variants knows which family a model is of, and the words that treat
// what models of a family are known to do wrong.
//
// It owns the table of families and the texts, one for each failure mode. It
// knows no agents and asks nobody.
package variants

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Family is whose model a model is. The zero value is none that is known.
type Family string

// The families. Not all of them have variants.
const (
	Qwen     Family = "qwen"
	Claude   Family = "claude"
	GPT      Family = "gpt"
	DeepSeek Family = "deepseek"
	Gemini   Family = "gemini"
	Llama    Family = "llama"
	Mistral  Family = "mistral"
)

// Variant is the text that is added to a prompt against one failure mode.
type Variant struct {
	Family  Family
	Mode    string // the failure mode, such as over-comments
	Failure string // what models do without it
	Measure string // how one sees whether it helps
	Text    string // what they are told
	File    string // where it was read from; empty for those that are built in
}

//go:embed */*.md
var texts embed.FS

// Embedded are the variants that this program brings, by family and mode.
func Embedded() ([]Variant, error) {
	var all []Variant
	err := fs.WalkDir(texts, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := texts.ReadFile(name)
		if err != nil {
			return err
		}
		v, err := Parse(name, string(text))
		v.File = ""
		all = append(all, v)
		return err
	})
	slices.SortFunc(all, func(a, b Variant) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Mode, b.Mode))
	})
	return all, err
}

// Parse reads the file FAMILY/MODE.md of a variant: front matter that says
// failure and measure, and the text.
func Parse(file, text string) (Variant, error) {
	v := Variant{
		Family: Family(path.Base(path.Dir(file))), File: file,
		Mode: strings.TrimSuffix(path.Base(file), ".md"),
	}
	head, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		return v, fmt.Errorf("%s: want front matter between two lines of ---", file)
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "failure":
			v.Failure = value
		case "measure":
			v.Measure = value
		default:
			return v, fmt.Errorf("%s: unknown field %q; there is failure, measure", file, name)
		}
	}
	v.Text = strings.TrimSpace(body)
	if v.Text == "" {
		return v, fmt.Errorf("%s: there is no text below the front matter", file)
	}
	return v, nil
}
