package shell

import (
	"strings"
	"testing"
)

// TestTable loads tables that cannot be used.
func TestTable(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"[[wrapper]]\nnames = []":                                                                  "without names",
		"[[wrapper]]\nnames = [\"a\"]\ninner = \"x\"":                                              `inner is "x"`,
		"[[wrapper]]\nnames = [\"a\"]\ninput = \"x\"":                                              `input is "x"`,
		"[[wrapper]]\nnames = [\"a\"]\noptions = [\"x\"]":                                          "begin with a dash",
		"[[wrapper]]\nnames = [\"a\"]\noptions = [\"-x,--xx:\"]\ntext = [\"-x\"]":                  `"-x" is not what`,
		"[[wrapper]]\nnames = [\"a\"]\nnever = [\"-y\"]":                                           `"-y" is not what`,
		"[[wrapper]]\nnames = [\"a\"]\n[[wrapper]]\nnames = [\"a\"]":                               "appears twice",
		"[[wrapper]]\nnames = [\"a\"]\nsub = [\"b\"]\n[[wrapper]]\nnames = [\"a\"]\nsub = [\"b\"]": "appears twice",
		"[variables]\nx = [\"A\"]":                                                                 "no known kind",
		"[sinks.python]\nx = [\"a\"]":                                                              "no known kind",
		"[variables]\ntext = [\"A\"]\nfile = [\"A\"]":                                              "A appears twice",
		"[sinks.python]\nrm = [\"a\"]\nrmtree = [\"a\"]":                                           "a appears twice",
		"[[wrapper]]\nnames = [\"a\"]\nlanguage = \"x\"\ninner = \"code\"":                         "no sinks",
		"x": "",
		"[[wrapper]]\nnames = [\"a\"]\nskipp = 1": "",
	} {
		err := new(Reader).load([]byte(give))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("load(%q) = %v, want an error with %q", give, err, want)
		}
	}
}

// TestCallNamed reads calls in other languages, of which reasons can tell.
func TestCallNamed(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for give, want := range map[string]string{
		`python3 -c 'import shutil as s; s.rmtree("x")'`:   "shutil.rmtree",
		`node -e 'require("fs").rmSync("x")'`:              "fs.rmSync",
		`ruby -e 'FileUtils.rm_rf "x"'`:                    "FileUtils.rm_rf",
		`python3 -c 'import os; os.system("rm x")'`:        "",
		`python3 -c 'subprocess.run(["rm", "x"])'`:         "subprocess.run",
		`python3 -c 'import os; os.kill(int("1"), 9)'`:     "os.kill",
		`perl -e 'use File::Path; File::Path::rmtree "x"'`: "File.Path.rmtree",
	} {
		all := r.Read(give, here()).Invocations
		if got := all[len(all)-1]; got.Call != want || len(got.Via) != 1 {
			t.Errorf("%q: Call = %q via %q, want %q", give, got.Call, got.Via, want)
		}
	}
}

// TestRemovesAlike: a call removes the same each time the table is read.
func TestRemovesAlike(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := reader(t)
		for give, want := range map[string]string{
			`node -e 'fse.removeSync("x")'`:                         "rm -rf x",
			`deno eval 'Deno.removeSync("x")'`:                      "rm x",
			`deno eval 'Deno.removeSync("x", { recursive: true })'`: "rm -rf x",
		} {
			all := r.Read(give, here()).Invocations
			last := all[len(all)-1]
			got := last.Program
			for _, w := range last.Args {
				got += " " + w.Value
			}
			if got != want {
				t.Errorf("%q removes by %q, want %q", give, got, want)
			}
		}
	}
}
