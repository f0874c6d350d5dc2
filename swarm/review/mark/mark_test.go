package mark

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/review"
)

func load(t testing.TB, files ...string) *Rules {
	t.Helper()
	var texts [][]byte
	for _, f := range files {
		texts = append(texts, []byte(f))
	}
	r, err := Load(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExamples holds each built-in rule to its examples, and wants some.
func TestExamples(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, rule := range r.all {
		if err := r.tryExamples(rule); err != nil {
			t.Error(err)
		}
		if rule.Check == "" && (len(rule.Examples) == 0 || len(rule.Counterexamples) == 0) {
			t.Errorf("mark %s has no examples", rule.ID)
		}
	}
	for name := range checks() {
		if !slices.ContainsFunc(r.all, func(r *rule) bool { return r.Check == name }) {
			t.Errorf("no mark asks the check %s", name)
		}
	}
}

// TestCorpus: each diff of the corpus has the marks that it is to have, and no
// other.
func TestCorpus(t *testing.T) {
	t.Parallel()
	r := load(t)
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range strings.Split(string(text), "\n== ")[1:] {
		head, hunk, _ := strings.Cut(one+"\n", "\n")
		words := strings.Fields(head)
		want := words[1:]
		slices.Sort(want)
		if got := idsOf(t, r, diff(words[0], strings.TrimRight(hunk, "\n")+"\n"), Facts{}); !slices.Equal(got, want) {
			t.Errorf("%s\n%s\nhas the marks %v, want %v", words[0], hunk, got, want)
		}
	}
}

// TestFiles: marks that the head of a file tells.
func TestFiles(t *testing.T) {
	t.Parallel()
	r := load(t)
	for text, want := range map[string]string{
		"new file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+target\n":     "symlink",
		"new file mode 160000\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+Subproject\n": "submodule",
		"new file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+echo\n":       "executable",
		"old mode 100644\nnew mode 100755\n":                                                     "executable",
		"old mode 100755\nnew mode 100644\n":                                                     "",
		"index 1..2 100644\nGIT binary patch\nliteral 1\nIc\n\nliteral 1\nIc\n":                  "binary",
		"index 1..2 100644\n--- a/x\n+++ b/x\n@@ -0,0 +1,41 @@\n" + strings.Repeat("+x\n", 41):   "long",
		"index 1..2 100644\n--- a/x\n+++ b/x\n@@ -0,0 +1,40 @@\n" + strings.Repeat("+x\n", 40):   "",
	} {
		if got := strings.Join(idsOf(t, r, "diff --git a/x b/x\n"+text, Facts{}), " "); got != want {
			t.Errorf("%q has the marks %q, want %q", text, got, want)
		}
	}
}

// idsOf are the ids of the marks of a patch, each once.
func idsOf(t *testing.T, r *Rules, text string, facts Facts) []string {
	t.Helper()
	files, err := review.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	x := &review.Index{}
	x.Put(&review.Patch{ID: "a1", Files: files})
	var ids []string
	for _, marks := range r.Find(x.Edits(), func(string) Facts { return facts }) {
		for _, m := range marks {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func diff(path, hunk string) string {
	before, after := 0, 0
	for line := range strings.Lines(hunk) {
		if line[0] != '+' {
			before++
		}
		if line[0] != '-' {
			after++
		}
	}
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 1..2 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,%[2]d +1,%[3]d @@\n%[4]s", path, before, after, hunk)
}

// TestFacts: marks that depend on facts beside the text of a patch.
func TestFacts(t *testing.T) {
	t.Parallel()
	r := load(t)
	plain := diff("a/x.go", "-old\n+new\n")
	pin := func(path, before, after string) (string, Facts) {
		return diff(path, "-"+before+"+"+after), Facts{Text: func(name string, now bool) ([]byte, bool) {
			if name != path {
				return nil, false
			}
			if now {
				return []byte(after), true
			}
			return []byte(before), true
		}}
	}
	check := func(name, text string, facts Facts, want ...string) {
		if got := idsOf(t, r, text, facts); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	check("none", plain, Facts{})
	check("outside", plain, Facts{OutOfPaths: []string{"a/x.go"}}, "out-of-paths")
	check("outside elsewhere", plain, Facts{OutOfPaths: []string{"b/x.go"}})
	check("submodule", plain, Facts{Replaced: []string{"a/x.go"}}, "submodule")
	check("red", plain, Facts{CheckFailed: true}, "check-failed")
	check("refused", plain, Facts{ReviewerNo: true}, "reviewer-no")
	text, facts := pin("go.mod", "require a.example/x v1.2.0\n", "require a.example/x v1.10.0\n")
	check("newer", text, facts)
	text, facts = pin("go.mod", "require a.example/x v1.10.0\n", "require a.example/x v1.2.0\n")
	check("older", text, facts, "dependency-older")
	text, facts = pin("go.mod", "require a.example/x v1.10.0\n", "require a.example/y v1.10.0\n")
	check("new", text, facts, "dependency-new")
	text, facts = pin("package.json", "{\"dependencies\": {\"a\": \"^2.0.0\"}}\n", "{\"dependencies\": {\"a\": \"^2.0.0\", \"b\": \"1\"}}\n")
	check("new of npm", text, facts, "dependency-new")
	_, facts = pin("Cargo.lock", "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n", "[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n")
	text = diff("Cargo.lock", "-name = \"a\"\n+name = \"b\"\n")
	check("indirect", text, facts)
}

func TestRejectedBefore(t *testing.T) {
	t.Parallel()
	files, err := review.Read(diff("x.go", "-old\n+new\n"))
	if err != nil {
		t.Fatal(err)
	}
	x := &review.Index{}
	x.Put(&review.Patch{ID: "a1", Files: files})
	e := x.Edits()[0]
	marks := load(t).Find(x.Edits(), func(string) Facts { return Facts{RejectedEdits: map[*review.Edit]bool{e: true}} })
	if len(marks[e]) != 1 || marks[e][0].ID != "rejected-before" || Weight(marks[e]) != 6 {
		t.Errorf("marks %+v", marks[e])
	}
}

// TestLoad: users add rules and raise weights; they take no mark away.
func TestLoad(t *testing.T) {
	t.Parallel()
	const own = `[[mark]]
id = "own"
weight = 7
reason = "calls the old API"
languages = ["go"]
added = ["legacy.*("]
examples = ["\tx := legacy.Call(a)"]
counterexamples = ["\t// legacy.Call(a)", "legacy.x"]

[[mark]]
id = "long"
weight = 6
`
	r := load(t, own)
	if got := idsOf(t, r, diff("x.go", "+\tlegacy.Open(\"x\")\n"), Facts{}); !slices.Equal(got, []string{"own"}) {
		t.Errorf("marks %v", got)
	}
	if at := slices.IndexFunc(r.all, func(r *rule) bool { return r.ID == "long" }); r.all[at].Weight != 6 {
		t.Errorf("the weight of long is %d", r.all[at].Weight)
	}
	for text, want := range map[string]string{
		"[[mark]]\nid = \"symlink\"\nweight = 1\n":                                                        "mark symlink: has the weight 8, which can be raised and not lowered",
		"[[mark]]\nid = \"symlink\"\nweight = 9\nkinds = [\"docs\"]\n":                                    "mark symlink: is there already: only its weight can be given",
		"[[mark]]\nid = \"x\"\nweight = 10\n":                                                             "mark x: its weight must be from 1 to 9",
		"[[mark]]\nid = \"x\"\nweight = 1\nadded = [\"a\"]\n":                                             "mark x: has no reason",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\n":                                              "mark x: needs either a check or words that are added or removed",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"z\"\n":                               "mark x: there is no check \"z\"",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\nadded = [\"* *\"]\n":                           "mark x: \"* *\" holds no words",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\nadded = [\"a\"]\nexamples = [\"b\"]\n":         "mark x: of its examples \"b\" is not as it should be",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\nadded = [\"a\"]\npaths = [\"[\"]\n":            "mark x: \"[\"",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"long\"\ntext = true\n":               "mark x: has a check: text, replaces,",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"long\"\nreplaces = true\n":           "mark x: has a check: text, replaces,",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"long\"\nunless = [\"a\"]\n":          "mark x: has a check: text, replaces,",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"long\"\nexamples = [\"a\"]\n":        "mark x: has a check: text, replaces,",
		"[[mark]]\nid = \"x\"\nweight = 1\nreason = \"y\"\ncheck = \"long\"\ncounterexamples = [\"a\"]\n": "mark x: has a check: text, replaces,",
		"[[mark]]\nwords = 1\n": "line 2: \"mark.words\" is not a key here",
	} {
		_, err := Load([]byte(text))
		if wrong, ok := errors.AsType[*RuleError](err); !ok || !strings.HasPrefix(wrong.Error(), want) {
			t.Errorf("Load(%q): %v, want %s", text, err, want)
		}
	}
}

// FuzzFind: no patch makes the checks panic.
func FuzzFind(f *testing.F) {
	f.Add(diff("x_test.go", "-\tt.Error(\"a\")\n+\tt.Skip(`b\n"), "x")
	f.Add(diff("x_test.py", "-def test_a():\n-    assert x\n"), `"""`)
	r, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		r.matches([]string{line, line}, "py")
		r.matches([]string{line, line}, "go")
		files, err := review.Read(text)
		if err != nil {
			return
		}
		x := &review.Index{}
		x.Put(&review.Patch{ID: "a1", Files: files})
		r.Find(x.Edits(), nil)
	})
}

// TestChecksHoldWhere: a rule with a check marks only edits of the kinds,
// languages and paths that it names.
func TestChecksHoldWhere(t *testing.T) {
	t.Parallel()
	pins := func(_ string, after bool) ([]byte, bool) {
		if after {
			return []byte("require a.example/x v1.2.0\nrequire a.example/y v1.0.0\n"), true
		}
		return []byte("require a.example/x v1.10.0\n"), true
	}
	head := func(path, mode string) string {
		return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode %[2]s\nindex 0..1\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+x\n", path, mode)
	}
	test := diff("d/x_test.go", "-func TestA(t *testing.T) {\n-\tt.Fatal(1)\n-}\n+\n")
	gives := map[string]struct {
		text  string
		facts Facts
	}{
		"steers":           {diff(".github/workflows/x.yml", "-old\n+new\n"), Facts{}},
		"out-of-paths":     {diff("d/x.go", "-old\n+new\n"), Facts{OutOfPaths: []string{"d/x.go"}}},
		"submodule":        {head("d/x", "160000"), Facts{}},
		"symlink":          {head("d/x", "120000"), Facts{}},
		"executable":       {head("d/x", "100755"), Facts{}},
		"binary":           {"diff --git a/d/x b/d/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIc\n\nliteral 1\nIc\n", Facts{}},
		"check-failed":     {diff("d/x.go", "-old\n+new\n"), Facts{CheckFailed: true}},
		"reviewer-no":      {diff("d/x.go", "-old\n+new\n"), Facts{ReviewerNo: true}},
		"invisible":        {diff("d/x.go", "-old\n+new\u202e\n"), Facts{}},
		"long":             {diff("d/x.go", strings.Repeat("+x\n", longEdit+1)), Facts{}},
		"test-deleted":     {test, Facts{}},
		"assertions-fewer": {diff("d/x_test.go", "-\tt.Fatal(1)\n+\tt.Log(1)\n"), Facts{}},
		"dependency-new":   {diff("d/go.mod", "+require a.example/y v1.0.0\n"), Facts{Text: pins}},
		"dependency-older": {diff("d/go.mod", "-require a.example/x v1.10.0\n+require a.example/x v1.2.0\n"), Facts{Text: pins}},
	}
	for check := range checks() {
		give, ok := gives[check]
		if !ok && check != "rejected-before" { // see TestRejectedBefore: its facts are of edits
			t.Errorf("no patch for the check %s", check)
		}
		if !ok {
			continue
		}
		for where, want := range map[string]bool{
			"": true, `paths = ["**"]`: true, `paths = ["only/here/**"]`: false, `kinds = ["none"]`: false, `languages = ["none"]`: false,
		} {
			r := load(t, fmt.Sprintf("[[mark]]\nid = \"own\"\nweight = 9\nreason = \"r\"\ncheck = %q\n%s\n", check, where))
			if got := slices.Contains(idsOf(t, r, give.text, give.facts), "own"); got != want {
				t.Errorf("check %s, %s: marked %t, want %t", check, where, got, want)
			}
		}
	}
}

// TestChecksReadAllFiles: a rule for some paths still sees a test that moved
// elsewhere.
func TestChecksReadAllFiles(t *testing.T) {
	t.Parallel()
	r := load(t, "[[mark]]\nid = \"own\"\nweight = 9\nreason = \"r\"\ncheck = \"test-deleted\"\npaths = [\"a/**\"]\n")
	gone := diff("a/x_test.go", "-func TestA(t *testing.T) {\n+\n")
	if got := idsOf(t, r, gone, Facts{}); !slices.Contains(got, "own") {
		t.Errorf("a removed test has the marks %v", got)
	}
	if got := idsOf(t, r, gone+diff("b/x_test.go", "+func TestA(t *testing.T) {\n"), Facts{}); slices.Contains(got, "own") {
		t.Errorf("a moved test has the marks %v", got)
	}
}
