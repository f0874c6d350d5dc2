package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/script"
)

// TestWorkflows runs the tests of every example.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/workflows/*.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 7 {
		t.Fatalf("found only %q", files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			report := testFile(t, file)
			var b strings.Builder
			if _, err := report.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			t.Log(b.String())
			for _, c := range report.Cases {
				for _, wrong := range c.Wrong {
					t.Errorf("%s: %s", c.Name, wrong)
				}
				for _, unused := range c.Unused {
					t.Errorf("%s: not used: %s", c.Name, unused)
				}
			}
		})
	}
}

func testFile(t *testing.T, file string) *Report {
	t.Helper()
	tests := strings.TrimSuffix(file, ".js") + ".test.toml"
	text, err := os.ReadFile(tests)
	if err != nil {
		t.Fatal(err)
	}
	suite, err := Read(filepath.Base(tests), text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return tested(t, script.Source{Name: filepath.Base(file), Text: string(code)}, suite)
}

// tested is the report of a script that runs in this process.
func tested(t *testing.T, src script.Source, suite *Suite, lib ...script.Source) *Report {
	t.Helper()
	program, err := script.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Test(t.Context(), Request{Source: src, Meta: program.Meta, Lib: lib, Suite: suite, Run: Direct})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
