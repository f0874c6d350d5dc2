package tasks

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"agentswarm/variants"
)

// each hands every failure mode to a function with its tasks.
func each(t *testing.T, do func(key string, all []Task)) {
	t.Helper()
	known, err := variants.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range known {
		all, err := Of(string(v.Family), v.Mode)
		if err != nil {
			t.Fatal(err)
		}
		do(string(v.Family)+"/"+v.Mode, all)
	}
}

func TestTwentyForEachMode(t *testing.T) {
	t.Parallel()
	total := 0
	each(t, func(key string, all []Task) {
		total += len(all)
		for i, task := range all {
			if want := fmt.Sprintf("%02d", i+1); task.Name != want {
				t.Errorf("%s: task %d is called %s, want %s", key, i+1, task.Name, want)
			}
		}
		if len(all) != 20 {
			t.Errorf("%s has %d tasks, want 20", key, len(all))
		}
	})
	names, err := fs.Glob(texts, "*/*/*.txtar")
	if err != nil || len(names) != total {
		t.Errorf("%d files are embedded, and %d tasks are of a mode; %v", len(names), total, err)
	}
}

// Two tasks of a mode share neither their files, nor a file with the same text,
// nor their prompt.
func TestNoSharedFixtures(t *testing.T) {
	t.Parallel()
	each(t, func(key string, all []Task) {
		prompts, texts := map[string]string{}, map[string]string{}
		for _, task := range all {
			if other := prompts[task.Prompt]; other != "" {
				t.Errorf("%s: %s asks what %s does", key, task.Name, other)
			}
			prompts[task.Prompt] = task.Name
			for _, f := range task.Files {
				text := strings.Join(strings.Fields(f.Text), " ")
				// A module file, and a file that only has to be there, say nothing.
				if len(text) < 24 || f.Path == "go.mod" {
					continue
				}
				if other := texts[text]; other != "" && other != task.Name {
					t.Errorf("%s: %s has the text of %s from %s", key, task.Name, f.Path, other)
				}
				texts[text] = task.Name
			}
		}
	})
}

func TestTasksAreSmallAndVaried(t *testing.T) {
	t.Parallel()
	each(t, func(key string, all []Task) {
		langs := map[string]int{}
		for _, task := range all {
			langs[task.Lang]++
			size := len(task.Prompt)
			for _, f := range task.Files {
				size += len(f.Text)
				if strings.HasSuffix(f.Path, ".go") {
					if _, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Text, 0); err != nil {
						t.Errorf("%s/%s: %v", key, task.Name, err)
					}
				}
			}
			if size > 4<<10 {
				t.Errorf("%s/%s has %d bytes; want a small one", key, task.Name, size)
			}
			// `run` would fill these.
			for _, word := range []string{"item", "name", "index", "count"} {
				if strings.Contains(task.Prompt, "{"+word+"}") {
					t.Errorf("%s/%s: the prompt holds the placeholder {%s}", key, task.Name, word)
				}
			}
		}
		if len(langs) < 5 {
			t.Errorf("%s: only %d languages: %v", key, len(langs), langs)
		}
	})
}

// Some signs that a task provokes its mode are visible in it.
func TestTasksProvoke(t *testing.T) {
	t.Parallel()
	each(t, func(key string, all []Task) {
		for _, task := range all {
			_, mode, _ := strings.Cut(key, "/")
			switch mode {
			case "skips-verification":
				if task.Check == "" {
					t.Errorf("%s/%s has no check to skip", key, task.Name)
				}
			case "foreign-comments":
				if strings.IndexFunc(task.Prompt, func(r rune) bool { return r >= 0x3040 && r <= 0x9fff }) < 0 {
					t.Errorf("%s/%s is in no other script", key, task.Name)
				}
			case "phantom-paths":
				if task.Phantom == "" || !strings.Contains(task.Prompt, task.Phantom[strings.LastIndex(task.Phantom, "/")+1:]) {
					t.Errorf("%s/%s names no phantom", key, task.Name)
				}
			case "repeats-question":
				if n := len(strings.Fields(task.Prompt)); n < 14 {
					t.Errorf("%s/%s has %d words; one repeats longer ones", key, task.Name, n)
				}
			}
		}
	})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"":                                              "unknown key",
		"lang: go\n-- a --\n":                           "there is no prompt",
		"check: x\n\nDo.\n-- a --\n":                    "lang is missing",
		"lang: go\n\nDo.\n":                             "there are no files",
		"lang: go\nsize: 3\n\nDo.\n":                    `unknown key "size"`,
		"lang: go\n\nDo.\n-- ../a --\n":                 `"../a" is no path`,
		"lang: go\n\nDo.\n-- .git/x --\n":               `".git/x" is no path`,
		"lang: go\n\nDo.\n-- a --\n-- a --\n":           "a appears twice",
		"lang: go\nphantom: a/b\n\nDo.\n-- a/b --\nx\n": "a/b is a phantom and is there",
	} {
		if _, err := Parse("qwen/m/01.txtar", give); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", give, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("qwen/m/07.txtar", "lang: go\ncheck: go test ./...\n\nDo it.\n\nWell.\n-- a/b.go --\npackage b\n-- empty --\n-- c --\n-- no marker\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.Family != "qwen" || got.Mode != "m" || got.Name != "07" || got.Prompt != "Do it.\n\nWell." || got.Check != "go test ./..." {
		t.Errorf("Parse = %+v", got)
	}
	if want := []File{{"a/b.go", "package b\n"}, {"empty", ""}, {"c", "-- no marker\n"}}; !slices.Equal(got.Files, want) {
		t.Errorf("files %q, want %q", got.Files, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("lang: go\n\nDo.\n-- a --\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		task, err := Parse("a/b/01.txtar", text)
		if err == nil && (task.Prompt == "" || len(task.Files) == 0) {
			t.Errorf("Parse(%q) = %+v", text, task)
		}
	})
}
