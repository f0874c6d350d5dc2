package measure

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// segments returns the commands of a line of shell, as words. It reads quotes,
// comments and the separators of commands. It knows nothing else of the
// language, because it only has to see which programs were run. The command in
// a shell's argument, as in bash -lc 'go test', is read as a command.
func segments(text string) [][]string {
	var all [][]string
	for _, words := range flat(withoutDocuments(text)) {
		if inner, is := handed(program(words)); is {
			all = append(all, segments(inner)...)
		} else {
			all = append(all, words)
		}
	}
	return all
}

// handed is the text that a shell is started to run.
func handed(words []string) (text string, is bool) {
	if len(words) < 3 || !slices.Contains([]string{"sh", "bash", "zsh", "dash"}, path.Base(words[0])) {
		return "", false
	}
	for i, w := range words[1 : len(words)-1] {
		if !strings.HasPrefix(w, "-") {
			return "", false
		}
		if strings.HasSuffix(w, "c") && !strings.HasPrefix(w, "--") {
			return words[i+2], true
		}
	}
	return "", false
}

// withoutDocuments removes the text below <<WORD: it is data.
func withoutDocuments(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	var b strings.Builder
	end, n := "", 0
	ends := lastLines(text)
	for line := range strings.Lines(text) {
		n++
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		}
		b.WriteString(line)
		end = document(line, n, ends)
	}
	return b.String()
}

// lastLines are the numbers of the last lines that say just that.
func lastLines(text string) map[string]int {
	last, n := map[string]int{}, 0
	for line := range strings.Lines(text) {
		n++
		last[strings.TrimSpace(line)] = n
	}
	return last
}

// document returns the word that ends the text below line n, if ends has it;
// empty for none. Small words without quotes are shifted numbers and the like.
func document(line string, n int, ends map[string]int) string {
	_, rest, is := strings.Cut(line, "<<")
	word := strings.TrimLeft(rest, "-~ \t")
	loose := word == rest || rest[0] == ' ' || rest[0] == '\t'
	if i := strings.IndexFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|)><", r) }); i >= 0 {
		word = word[:i]
	}
	bare := strings.Trim(word, `'"\`)
	if !is || bare == "" || loose && bare == word && !unicode.IsUpper(rune(bare[0])) && bare[0] != '_' {
		return ""
	}
	if ends[bare] > n {
		return bare
	}
	return ""
}

// flat are the commands as they stand there.
func flat(text string) [][]string {
	var all [][]string
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	end := func() {
		endWord()
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	quote := rune(0)
	escaped, comment := false, false
	for _, r := range text {
		switch {
		case comment:
			comment = r != '\n'
			if !comment {
				end()
			}
		case escaped:
			escaped = false
			if r != '\n' {
				word.WriteRune(r)
				inWord = true
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
				continue
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			endWord()
		case r == '#' && !inWord:
			comment = true
		case strings.ContainsRune("\n;&|(){}`", r):
			end()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	end()
	return all
}

// program strips the words before the program of a command: variables, and
// programs that only run another.
func program(words []string) []string {
	for len(words) > 0 {
		switch name := path.Base(words[0]); {
		case strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-"):
			words = words[1:]
		case slices.Contains([]string{"time", "env", "nice", "command", "exec", "npx", "bunx", "then", "do", "if", "else", "!", "nohup", "sudo"}, name):
			words = words[1:]
		case name == "timeout" && len(words) > 1:
			words = words[2:]
		case len(words) > 1 && (words[1] == "run" && (name == "uv" || name == "poetry" || name == "pipenv") || name == "pnpm" && words[1] == "exec"):
			words = words[2:]
		default:
			return words
		}
	}
	return nil
}

// check is the subject of a command that checks work. The zero value is no
// check.
type check int

const (
	noCheck check = iota
	linted        // its form
	built         // whether it can be built
	tested        // its behaviour
)

// checksIn returns the checks that a line of shell runs. own is the check of
// the task, which counts as a test.
func checksIn(text, own string) []check {
	var found []check
	wants := segments(own)
	for _, words := range segments(text) {
		words = program(words)
		switch c := checkOf(words); {
		case len(wants) == 1 && begins(words, program(wants[0])):
			found = append(found, tested)
		case c != noCheck:
			found = append(found, c)
		}
	}
	if own != "" && !slices.Contains(found, tested) && len(wants) > 1 && strings.Contains(text, own) {
		found = append(found, tested)
	}
	return found
}

// bare returns the words of a command without those that only choose how or
// where it runs: its folder, a version, options before the verb.
func bare(words []string) []string {
	words = slices.Clone(words)
	name := path.Base(words[0])
	if strings.HasPrefix(name, "python3.") {
		name = "python3"
	}
	words[0] = strings.TrimSuffix(name, "w")
	if words[0] != "gradle" && words[0] != "mvn" { // their wrappers
		words[0] = name
	}
	switch words[0] {
	case "go", "npm", "yarn", "pnpm", "make", "cargo", "mvn", "gradle", "dotnet":
		for len(words) > 2 && strings.HasPrefix(words[1], "-") || len(words) > 2 && strings.HasPrefix(words[1], "+") {
			most := 2
			if len(words) > 3 && slices.Contains([]string{"-C", "--prefix", "-f", "--dir"}, words[1]) {
				most = 3
			}
			words = slices.Delete(words, 1, most)
		}
	case "python", "python3":
		for len(words) > 2 && slices.Contains([]string{"-B", "-u", "-I", "-E", "-s"}, words[1]) {
			words = slices.Delete(words, 1, 2)
		}
	}
	return words
}

func begins(words, with []string) bool {
	return len(with) > 0 && len(words) >= len(with) && slices.Equal(words[:len(with)], with)
}

// checkOf knows the usual checks by how they begin.
func checkOf(words []string) check {
	if len(words) == 0 {
		return noCheck
	}
	words = bare(words)
	if slices.Contains([]string{"sh", "bash", "node", "python", "python3", "perl", "ruby"}, words[0]) && len(words) > 1 && isTestFile(words[1]) {
		return tested
	}
	if isTestFile(words[0]) && strings.Contains(words[0], ".") {
		return tested
	}
	line := strings.Join(words, " ") + " "
	for _, known := range []struct {
		check  check
		begins []string
	}{
		{tested, []string{
			"go test ", "pytest ", "py.test ", "python -m pytest ", "python3 -m pytest ", "python -m unittest ", "python3 -m unittest ",
			"python -m doctest ", "python3 -m doctest ", "npm test ", "npm t ", "npm run test", "yarn test", "pnpm test", "pnpm run test",
			"bun test ", "node --test ", "deno test ", "jest ", "vitest ", "mocha ", "make test", "make check", "cargo test", "ctest ", "mvn test", "mvn verify",
			"gradle test", "rspec ", "rake test", "tox ", "nox ", "bats ", "prove ", "phpunit ", "dotnet test", "swift test", "mix test", "busted ",
		}},
		{built, []string{
			"go build ", "go vet ", "go run ", "npm run build", "yarn build", "pnpm build", "tsc ", "make ", "cargo check", "cargo build", "gcc ", "g++ ", "cc ", "clang ",
			"javac ", "mvn ", "gradle ", "python -m py_compile ", "python3 -m py_compile ", "node --check ", "node -c ", "bash -n ", "sh -n ", "ruby -c ", "php -l ",
			"perl -c ", "docker build ", "terraform validate ", "dotnet build",
		}},
		{linted, []string{
			"gofmt -l", "golangci-lint ", "staticcheck ", "npm run lint", "yarn lint", "eslint ", "prettier --check", "ruff ", "mypy ", "flake8 ", "pylint ", "black --check",
			"shellcheck ", "cargo clippy", "yamllint ", "jq ", "python -m json.tool ", "python3 -m json.tool ", "markdownlint ", "hadolint ", "sqlfluff ", "xmllint ",
		}},
	} {
		for _, start := range known.begins {
			if strings.HasPrefix(line, start) {
				return known.check
			}
		}
	}
	return noCheck
}

// isTestFile tells by its name whether a script is a test.
func isTestFile(name string) bool {
	name = strings.ToLower(path.Base(name))
	name, _, _ = strings.Cut(name, ".")
	for _, word := range []string{"test", "tests", "check", "verify"} {
		if name == word || strings.HasPrefix(name, word+"_") || strings.HasPrefix(name, word+"-") ||
			strings.HasSuffix(name, "_"+word) || strings.HasSuffix(name, "-"+word) {
			return true
		}
	}
	return strings.HasPrefix(name, "runtests") || strings.HasPrefix(name, "run_tests")
}

// rewrites reports whether a line of shell changes files of the work, by the
// usual ways. A write elsewhere is no change, and neither is the removal of
// files that did not exist when the work began.
func (w *Work) rewrites(text string) bool {
	for _, words := range segments(text) {
		words = program(words)
		if len(words) == 0 {
			continue
		}
		if w.redirects(words) {
			return true
		}
		switch name := path.Base(words[0]); {
		case name == "rm":
			if slices.ContainsFunc(words[1:], w.began) {
				return true
			}
		case slices.Contains([]string{"tee", "mv", "cp", "patch", "touch", "truncate", "dd", "install"}, name):
			if name == "patch" || slices.ContainsFunc(words[1:], w.ours) && (name != "cp" || w.ours(words[len(words)-1])) {
				return true
			}
		case name == "sed" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" }),
			name == "perl" && slices.ContainsFunc(words, func(w string) bool {
				return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "i")
			}),
			name == "git" && len(words) > 1 && slices.Contains([]string{"apply", "checkout", "restore", "mv", "rm", "reset", "stash", "revert"}, words[1]),
			name == "gofmt" && slices.Contains(words, "-w"):
			return true
		}
	}
	return false
}

// redirects tells whether a command sends its output to a file of the work.
func (w *Work) redirects(words []string) bool {
	for i, word := range words {
		to, is := strings.CutPrefix(strings.TrimLeft(word, "12"), ">")
		to = strings.TrimPrefix(to, ">")
		if is && to == "" && i+1 < len(words) {
			to = words[i+1]
		}
		if is && to != "" && w.ours(to) {
			return true
		}
	}
	return false
}

// ours tells whether a word can be a path of the work.
func (w *Work) ours(word string) bool {
	if word == "" || strings.HasPrefix(word, "-") {
		return false
	}
	_, ok := w.inside(word)
	return ok
}

// began tells whether a word names something that was there at the beginning.
func (w *Work) began(word string) bool {
	p, ok := w.inside(word)
	return ok && slices.ContainsFunc(w.Paths, func(there string) bool {
		same, err := path.Match(p, there)
		return err == nil && same || p == "." || strings.HasPrefix(there, p+"/")
	})
}

// onlyLooks tells whether a line of shell shows something and runs nothing.
func onlyLooks(text string) bool {
	for _, words := range segments(text) {
		words = program(words)
		if len(words) > 0 && !slices.Contains([]string{
			"ls", "cat", "head", "tail", "grep", "rg", "find", "pwd", "cd", "wc", "git", "echo", "tree", "sed", "awk", "which", "file", "stat", "sort", "nl",
		}, path.Base(words[0])) {
			return false
		}
	}
	return true
}
