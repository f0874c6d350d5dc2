package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"agentswarm/swarm/schema"
	"agentswarm/worktree/git"
)

func TestReadSubject(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxSubject)
	for _, tt := range []struct{ name, give, want, wrong string }{
		{"plain", "parser: accept tabs", "parser: accept tabs", ""},
		{"conventional", "fix(api)!: return 404", "fix(api)!: return 404", ""},
		{"not English", "Ошибка в разборе", "Ошибка в разборе", ""},
		{"as long as it may be", long, long, ""},
		{"blanks around it", "  Add x ", "Add x", ""},
		{"a colon behind words with a dash", "Add re-try: twice", "Add re-try: twice", ""},
		{"too long", long + "é", "", "more than 72"},
		{"empty", "  ", "", "is empty"},
		{"two lines", "Add x\n\nSwarm-Run: y", "", "more than a line"},
		{"another line", "Add x\rrm -rf", "", "more than a line"},
		{"a line by another name", "Add x\u2028y", "", "more than a line"},
		{"steers a terminal", "Add \x1b[2Jx", "", "cannot show"},
		{"steers by one byte", "Add \u009b2Jx", "", "cannot show"},
		{"turns text around", "Add \u202etxt.exe", "", "cannot show"},
		{"hides", "Add\u200b x", "", "cannot show"},
		{"nothing to be seen", "Add\u00a0x", "", "cannot show"},
		{"an option", "-m evil", "", "begins with -"},
		{"a comment", "# Add x", "", "begins with #"},
		{"no word", "...", "", "no word"},
		{"a trailer", "Signed-off-by: Some Body <a@b>", "", "is a trailer"},
		{"a trailer of ours", "Swarm-Run: k3x9q2", "", "is a trailer"},
		{"for a rebase", "fixup! Add x", "", "what to do"},
		{"for a server", "Add x [skip ci]", "", "what to do"},
		{"for another", "Add x [CI Skip]", "", "what to do"},
		{"for a forge", "Add x, closes #12", "", "closes an issue"},
		{"for one with a colon", "Fixes: me/it#3", "", "closes an issue"},
		{"by another name", "resolve GH-7 for good", "", "closes an issue"},
		{"by an address", "Fix https://h/me/it/issues/9", "", "closes an issue"},
		{"in brackets", "Handle tabs (fixes #12)", "", "closes an issue"},
		{"in others", "Handle tabs [closes #12]", "", "closes an issue"},
		{"behind a comma", "Handle tabs,fixes #12", "", "closes an issue"},
		{"behind a dash", "Handle tabs -Fixes #12", "", "closes an issue"},
		{"emphasised", "**Fixes** (#12)", "", "closes an issue"},
		{"with more than a colon", "Closes: - #12", "", "closes an issue"},
		{"in words that one forge knows", "Implementing group/it#12", "", "closes an issue"},
		{"that were done", "Tabs: implemented #12", "", "closes an issue"},
		{"that are being done", "Fixing #1, closing #2", "", "closes an issue"},
		{"resolving", "Tabs; resolving GH-7", "", "closes an issue"},
		{"with its noun", "Closes issue #12", "", "closes an issue"},
		{"with many", "Fix issues: #12 and #13", "", "closes an issue"},
		{"as a bug", "Fixed bug #12", "", "closes an issue"},
		{"of a tracker beside it", "Fixes AB#12", "", "closes an issue"},
		{"by an address of a group", "Resolve <https://h/a/b/-/issues/9>", "", "closes an issue"},
		{"by an address of another form", "Closes h.example/a/b/-/work_items/9", "", "closes an issue"},
		{"as a change", "Fixes !12", "", "closes an issue"},
		{"opened again", "Reopens #12", "", "opens it again"},
		{"by the key of a tracker", "Fixes PROJ-12", "", "closes an issue"},
		{"by a key in other words", "tabs: completes ticket [A2_B-1]", "", "closes an issue"},
		{"by a key behind a standard", "Fix UTF-8, PROJ-12", "", "closes an issue"},
		{"by a key behind another word", "Resolves RFC-3339 and ENG-7", "", "closes an issue"},
		{"by a command", "PROJ-12 #close", "", "tells a tracker"},
		{"by the time it took", "PROJ-1 #time 2w", "", "tells a tracker"},
		{"by a command further on", "PROJ-1 Accept tabs #done now", "", "tells a tracker"},
		{"by a marked key", "Tabs #PROJ-1 fixed", "", "tells a tracker"},
		{"as a merge on a forge", "Merge pull request #12 from x", "", "merges something"},
		{"as a merge of a branch", "merge  branch 'main' into x", "", "merges something"},
		{"as a merge of a remote's", "Merge remote-tracking branch 'origin/main'", "", "merges something"},
		{"as a merge on another", "Merged in x (pull request #12)", "", "merges something"},
		{"as a merge on a third", "Merged PR 12: x", "", "merges something"},
		{"a server with a dash", "Add x [skip-ci]", "", "what to do"},
		{"a server with a line", "Add x [Skip_CI]", "", "what to do"},
		{"a server in one word", "Add x [skipci]", "", "what to do"},
		{"a server the other way", "Add x [ci-skip]", "", "what to do"},
		{"a server by its name", "Add x [skip azurepipelines]", "", "what to do"},
		{"a server with stars", "Add x ***NO_CI***", "", "what to do"},
		{"a server with none", "Add x [no-ci]", "", "what to do"},
		{"a server as an option", "Add x --skip-ci", "", "what to do"},
		{"a server by a trailer", "Add x skip-checks: true", "", "what to do"},
		{"a number that is no issue", "Fix 12 typos", "Fix 12 typos", ""},
		{"what is closed is no issue", "Close file handles on error", "Close file handles on error", ""},
		{"what is fixed is something else", "Fix crash in the parser (#12)", "Fix crash in the parser (#12)", ""},
		{"what is fixed stands beside it", "Fix crash(#12)", "Fix crash(#12)", ""},
		{"an issue is what it is about", "Fix issues with 12 tabs", "Fix issues with 12 tabs", ""},
		{"part of another word", "Use a prefix #12 tabs wide", "Use a prefix #12 tabs wide", ""},
		{"a beginning of another word", "Fixture #12 has tabs", "Fixture #12 has tabs", ""},
		{"a standard", "Fix UTF-8 and implement RFC-3339", "Fix UTF-8 and implement RFC-3339", ""},
		{"standards", "Fix UTF-16, SHA-256 and ISO-8601 #include", "Fix UTF-16, SHA-256 and ISO-8601 #include", ""},
		{"a hole by its number", "Fix CVE-2024-1234", "Fix CVE-2024-1234", ""},
		{"an issue of a tracker that stays open", "Accept tabs (PROJ-12)", "Accept tabs (PROJ-12)", ""},
		{"a name that is no key", "Fix level-2 headings", "Fix level-2 headings", ""},
		{"another merge", "Merge two lists in order", "Merge two lists in order", ""},
		{"a revert", "Revert \"Accept tabs\"", "Revert \"Accept tabs\"", ""},
		{"a path", "Fix src/issues/list.go", "Fix src/issues/list.go", ""},
		{"what is skipped is no check", "Skip CI files in the index", "Skip CI files in the index", ""},
		{"brackets around others", "Sort list[no] by circle", "Sort list[no] by circle", ""},
		{"of an issue that it leaves open", "parser: accept tabs (#12)", "parser: accept tabs (#12)", ""},
		{"a fix of no issue", "Fix #include order in C files", "Fix #include order in C files", ""},
		{"only such a word", "Fix", "Fix", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(map[string]string{"subject": tt.give})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadSubject(text)
			if got != tt.want || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("ReadSubject(%s) = %q, %v, want %q, %q", text, got, err, tt.want, tt.wrong)
			}
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("the reason %q cannot be shown", err)
			}
		})
	}
	for _, give := range []string{``, `"x"`, `[]`, `null`, `{}`, `{"subject":1}`, `{"subject":null}`, `{"subject":"x"`} {
		if got, err := ReadSubject(json.RawMessage(give)); err == nil {
			t.Errorf("ReadSubject(%s) = %q, want an error", give, got)
		}
	}
	if s, err := schema.Compile(SubjectSchema()); err != nil || s == nil {
		t.Errorf("Compile(SubjectSchema()) = %v, %v", s, err)
	}
}

func FuzzReadSubject(f *testing.F) {
	for _, seed := range []string{`{"subject":"Add x"}`, `{"subject":"-x"}`, `{"subject":"a\nb"}`, `{"subject":"\ud800"}`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		got, err := ReadSubject(answer)
		switch {
		case err != nil && got != "":
			t.Errorf("%q comes with %v", got, err)
		case err == nil && (got == "" || got[0] == '-' || !utf8.ValidString(got) || utf8.RuneCountInString(got) > MaxSubject ||
			strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) })):
			t.Errorf("%q is a subject", got)
		}
	})
}

// TestSubjectPromptIsBounded: neither a long task nor many files make it long,
// and only the first lines of the task are in it.
func TestSubjectPromptIsBounded(t *testing.T) {
	t.Parallel()
	var changes []git.Outline
	for i := range 5000 {
		changes = append(changes, git.Outline{Change: git.Change{Path: fmt.Sprint(i, strings.Repeat("é", 1000)), Status: 'M'}})
	}
	m := &Manifest{Files: Files(changes), Steps: []Step{{Name: "verify", Command: "secret"}}}
	text := SubjectPrompt(strings.Repeat("line\n", 10_000)+"the end", m)
	if len(text) > 12_000 || strings.Contains(text, "the end") || strings.Contains(text, "secret") {
		t.Errorf("it has %d bytes", len(text))
	}
	if text := SubjectPrompt(strings.Repeat("x", 1<<20), &Manifest{}); len(text) > 2000 {
		t.Errorf("of one long line it has %d bytes", len(text))
	}
}
