package demo

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// module is the path of the demo's monorepo, library that of the package
// whose API is renamed.
const (
	module  = "example.com/monorepo"
	library = module + "/libs/kv"
)

// callersFile is the shared file two agents want to change.
const callersFile = "docs/callers.md"

// all: because .gitattributes starts with a dot.
//
//go:embed all:monorepo
var templates embed.FS

// files are the contents of a tree by slash-separated path.
type files map[string]string

// monorepo is the tree that the agents start from.
func monorepo(packages []entry) (files, error) {
	tree := files{}
	root := struct {
		Module   string
		Packages []entry
		Audited  []string
	}{module, packages, []string{landsFirst, comesSecond}}
	if err := tree.render("monorepo/root", "", root); err != nil {
		return nil, err
	}
	for _, p := range packages {
		folder := "monorepo/packages/" + p.shape
		values := struct {
			Module, Name, Type, Thing, Attr, AttrKey string
		}{module, p.Name, p.Type, strings.ToLower(p.Type), title(p.attr), p.attr}
		before := len(tree)
		if err := tree.render(folder, "packages/"+p.Name, values); err != nil {
			return nil, err
		}
		if len(tree) == before {
			return nil, fmt.Errorf("write package %s: it has no shape %q", p.Name, p.shape)
		}
	}
	return tree, nil
}

// render adds the files that the templates below folder make from values. Their
// paths are below under.
func (t files) render(folder, under string, values any) error {
	name := path.Base(under)
	return fs.WalkDir(templates, folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(at)
		if err != nil {
			return err
		}
		made, err := template.New(at).Funcs(template.FuncMap{
			"a": article, "join": strings.Join,
		}).Parse(string(text))
		if err != nil {
			return fmt.Errorf("read template %s: %w", at, err)
		}
		var out bytes.Buffer
		if err := made.Execute(&out, values); err != nil {
			return fmt.Errorf("fill template %s: %w", at, err)
		}
		rel := strings.TrimSuffix(strings.TrimPrefix(at, folder+"/"), ".tmpl")
		rel = path.Join(under, strings.ReplaceAll(rel, "NAME", name))
		if path.Ext(rel) != ".go" {
			t[rel] = out.String()
			return nil
		}
		// Names differ in length, so columns and imports are put right here.
		formatted, err := format.Source(out.Bytes())
		if err != nil {
			return fmt.Errorf("format %s: %w", rel, err)
		}
		t[rel] = string(formatted)
		return nil
	})
}

// write puts the tree into dir.
func (t files) write(dir string) error {
	for rel, text := range t {
		at := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readFiles reads the regular files below dir, less the folders skip names.
func readFiles(dir string, skip ...string) (files, error) {
	tree := files{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		for _, name := range skip {
			if d.IsDir() && rel == name {
				return fs.SkipDir
			}
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(at)
		tree[filepath.ToSlash(rel)] = string(text)
		return err
	})
	return tree, err
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
