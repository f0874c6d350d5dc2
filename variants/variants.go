// Package variants knows the family of a model, and the texts that treat known
// faults of a family.
//
// It owns the table of families and the texts, a text for each failure mode. It
// knows no agents and makes no requests.
package variants

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"
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

// Variant is the text that is added to a prompt against a failure mode.
type Variant struct {
	Family  Family `json:"family"`
	Mode    string `json:"mode"`              // the failure mode, such as over-comments
	Failure string `json:"failure,omitempty"` // the fault of models without it
	Measure string `json:"measure,omitempty"` // how to measure its effect
	Text    string `json:"text"`              // the instruction
	File    string `json:"file,omitempty"`    // where it was read from; empty for those that are built in
}

//go:embed */*.md
var texts embed.FS

// Key names a variant, such as claude/false-claims.
func (v *Variant) Key() string { return string(v.Family) + "/" + v.Mode }

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
	order(all)
	return all, err
}

// order sorts by family and mode, so that a model gets the same text each time.
func order(all []Variant) {
	slices.SortStableFunc(all, func(a, b Variant) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Mode, b.Mode))
	})
}

// Lay lays variants over others: a variant replaces that of the same family and
// mode.
func Lay(over, under []Variant) []Variant {
	var all []Variant
	for _, v := range under {
		if !slices.ContainsFunc(over, func(o Variant) bool { return o.Key() == v.Key() }) {
			all = append(all, v)
		}
	}
	all = append(all, over...)
	order(all)
	return all
}

// Less is without those that a list of keys names; a family alone names all of
// its variants.
func Less(all []Variant, off []string) []Variant {
	return slices.DeleteFunc(slices.Clone(all), func(v Variant) bool {
		return slices.Contains(off, v.Key()) || slices.Contains(off, string(v.Family))
	})
}

// Treat are those of a family; none where the family is none.
func Treat(family Family, all []Variant) []Variant {
	var some []Variant
	for _, v := range all {
		if family != "" && v.Family == family {
			some = append(some, v)
		}
	}
	return some
}
