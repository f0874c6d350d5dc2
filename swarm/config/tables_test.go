package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/bytesize"
)

// odd returns a value for each key of the tables. It differs from the default
// and from the values in tests of other keys.
func odd() map[string]string {
	return map[string]string{
		"run.default_agent": `"odd-1"`, "run.questions": `"deny"`, "run.notify": `"odd 2"`, "run.overlap": `"refuse"`, "run.mention_changes": `false`,
		"workspace.backend": `"reflink"`, "workspace.max_size": `"41GB"`, "capture.max_file": `"37MiB"`, "workspace.warm": `"odd 3"`, "workspace.setup": `"odd 4"`, "workspace.verify": `"odd 5"`,
		"limits.jobs": `97`, "limits.max_agents": `13`, "limits.retries": `11`,
		"limits.timeout": `"17m"`, "limits.idle_timeout": `"19m"`, "limits.run_timeout": `"23m"`,
		"limits.wait_limits": `"71h"`, "limits.max_windows": `73`,
		"limits.budget_tokens": `29`, "limits.budget_usd": `0.31`, "limits.budget_time": `"37m"`,
		"sandbox.mode": `"require"`, "sandbox.hide": `["/odd/6"]`, "sandbox.write": `["/odd/7"]`,
		"sandbox.pass_env": `["ODD_*"]`,
		"risk.confined":    `"snapshot"`, "risk.question_timeout": `"41s"`,
		"hooks.on_run_start": `"odd 8"`, "hooks.on_agent_start": `"odd 9"`, "hooks.on_agent_end": `"odd 10"`,
		"hooks.on_run_end": `"odd 11"`, "hooks.timeout": `"43s"`,
		"variants.enabled": `false`, "variants.off": `["gpt"]`,
		"commit.author": `"agent"`, "landing.screen": `"go vet"`, "landing.slots": `31`, "landing.order": `"plan"`, "gc.run_age": `"47d"`, "gc.trash_age": `"53h"`, "gc.trash_size": `"59MB"`, "gc.base_size": `"61GiB"`, "gc.pool_size": `"67GiB"`,
	}
}

// eachKey calls do with each key of the tables and its odd value.
func eachKey(t *testing.T, do func(t *testing.T, name, value string)) {
	t.Helper()
	values := odd()
	for _, table := range tables() {
		for _, k := range table.keys {
			name := table.name + "." + k.name
			value := values[name]
			if value == "" {
				t.Errorf("%s has no odd value in this test", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				do(t, name, value)
			})
			delete(values, name)
		}
	}
	for name := range values {
		t.Errorf("there is no key %s", name)
	}
}

// fileOf is a file in which the key stands on line 3, below its table's header.
func fileOf(name, value string) string {
	table, key, _ := strings.Cut(name, ".")
	return "# a comment\n[" + table + "]\n" + key + " = " + value + "\n"
}

// TestEveryKeyShows: the value of a key in a file is shown, with its place, and
// replaces the default.
func TestEveryKeyShows(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, name, value string) {
		want := name[strings.Index(name, ".")+1:] + " = " + value + " # from user.toml:3\n"
		if got := written(t, mustLoad(t, user(fileOf(name, value))), true); strings.Count(got, want) != 1 {
			t.Errorf("settings =\n%s, want in them\n%s", got, want)
		}
		if strings.Contains(written(t, mustLoad(t), false), " = "+value+"\n") {
			t.Errorf("%s is the default of something", value)
		}
	})
}

// TestEveryKeyCounts: each key changes a field of the configuration that the
// rest of the program looks at.
func TestEveryKeyCounts(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, name := range []string{"../cli", "../cli/session", "../cli/plan", "../cli/runcmd", "../engine", "../gc", "../isolation"} {
		files, err := filepath.Glob(name + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("Glob(%s) = %v, %v", name, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				code.Write(text)
			}
		}
	}
	eachKey(t, func(t *testing.T, name, value string) {
		fields := changed(reflect.ValueOf(*mustLoad(t)), reflect.ValueOf(*mustLoad(t, user(fileOf(name, value)))))
		if len(fields) != 1 || !regexp.MustCompile(`\.`+fields[0]+`\b`).MatchString(code.String()) {
			t.Errorf("%s sets %q, want one field that is read", name, fields)
		}
	})
}

// changed are the exported fields in which two structs differ.
func changed(a, b reflect.Value) (names []string) {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		switch {
		case !f.IsExported() || reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()):
		case f.Type.Kind() == reflect.Struct:
			names = append(names, changed(a.Field(i), b.Field(i))...)
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

// TestRepositoryMaySay: a repository sets the allowed keys, in both of its
// files, and no others.
func TestRepositoryMaySay(t *testing.T) {
	t.Parallel()
	refused := []string{"sandbox.write"}
	ignored := []string{"risk.confined", "commit.author", "landing.screen", "landing.slots", "landing.order", "gc.run_age", "gc.trash_age", "gc.trash_size", "gc.base_size", "gc.pool_size"}
	eachKey(t, func(t *testing.T, name, value string) {
		for _, s := range []Source{project(fileOf(name, value)), local(fileOf(name, value))} {
			c, err := Load(s)
			if want := slices.Contains(refused, name); (err != nil) != want {
				t.Errorf("Load of %s of a %s file = %v, want a refusal: %t", name, s.Layer, err, want)
			}
			if err != nil {
				continue
			}
			_, set := c.Origin(name)
			told := len(c.Ignored()) == 1 && c.Ignored()[0].Line == 3 && strings.HasPrefix(c.Ignored()[0].Reason, "is ignored: ")
			if want := slices.Contains(ignored, name); set == want || told != want || want && written(t, c, false) != written(t, mustLoad(t), false) {
				t.Errorf("%s of a %s file is set: %t, told: %v; want it ignored: %t", name, s.Layer, set, c.Ignored(), want)
			}
		}
	})
}

// TestMovedKeys: a key where earlier versions had it is an error that names
// its new place, whatever its value is, and all of them are told at once.
func TestMovedKeys(t *testing.T) {
	t.Parallel()
	var all, want []string
	for name, value := range odd() {
		table, key, _ := strings.Cut(name, ".")
		if !slices.Contains([]string{"run", "workspace", "limits"}, table) {
			continue
		}
		reason := key + ": is now " + name + ": write it in the table [" + table + "]"
		for _, text := range []string{key + " = " + value, "\n\n" + key + ".x = 3", "[" + key + "]", "[" + table + "]\n\n[" + key + ".x]"} {
			_, err := Load(project(text))
			line := 1 + strings.Count(text[:strings.LastIndex(text, key)], "\n")
			if got := fmt.Sprintf(".swarm/config.toml:%d: %s", line, reason); err == nil || err.Error() != got {
				t.Errorf("Load(%q) = %v, want %s", text, err, got)
			}
		}
		all = append(all, key+" = "+value)
		want = append(want, fmt.Sprintf("c:%d: %s", len(all), reason))
	}
	var got []string
	for _, e := range Check(Source{Layer: User, Name: "c", Text: []byte(strings.Join(all, "\r\n"))}) {
		got = append(got, e.Error())
	}
	if len(all) != 21 || !slices.Equal(got, want) {
		t.Errorf("Check of %d keys =\n%s, want\n%s", len(all), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNoFlatKeys: nothing but tables stands at the top of the file.
func TestNoFlatKeys(t *testing.T) {
	t.Parallel()
	for name := range (&Config{}).readers() {
		for _, value := range []string{"3", `"x"`, "[1]", "true", "2024-01-01"} {
			if _, err := Load(user(name + " = " + value)); err == nil || !strings.HasPrefix(err.Error(), "user.toml:1: "+name+": expected a table") {
				t.Errorf("Load(%s = %s) = %v, want a table to be expected", name, value, err)
			}
		}
	}
}

// TestSizes: sizes are read in either kind of unit, and written so that they
// are read back as the same size.
func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0B": 0, "1B": 1, "1023B": 1023, "1KB": 1000, "1KiB": 1024, "1.5KB": 1500, "5 GiB": 5 << 30, "20GB": 20_000_000_000,
		"1TiB": 1 << 40, "0.5MB": 500_000, "1152921504606846976B": 1 << 60, "9007199254740992B": 1 << 53,
	} {
		got, ok := bytesize.Parse(text)
		if !ok || got != want {
			t.Errorf("bytesize.Parse(%q) = %d, %t, want %d", text, got, ok, want)
		}
		if again, ok := bytesize.Parse(sizeText(want)); !ok || again != want {
			t.Errorf("%d is written as %q, which reads as %d, %t", want, sizeText(want), again, ok)
		}
	}
	for n, want := range map[int64]string{
		5 << 30: "5GiB", 1536 << 20: "1536MiB", 59_000_000: "59MB", 1000: "1KB", 1001: "1001B", 1 << 60: "1048576TiB", 512_000: "500KiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("sizeText(%d) = %q, want %q", n, got, want)
		}
	}
	for _, text := range []string{"", "5", "-5MB", "5mb", "5PB", "1e3MB", "5GB ", "1048577TiB", "9999999999999999999TiB", "MB", ".5MB", "5iB"} {
		if got, ok := bytesize.Parse(text); ok {
			t.Errorf("bytesize.Parse(%q) = %d, want a refusal", text, got)
		}
	}
}
