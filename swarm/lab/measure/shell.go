package measure

import (
	"path"
	"slices"
	"strings"
)

// segments are the commands of a line of shell, as words. It reads quotes and
// what stands between commands, and knows nothing else of the language: it
// only has to see which programs were run.
func segments(text string) [][]string {
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
	escaped := false
	for _, r := range text {
		switch {
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

// program strips what stands before the program of a command: variables, and
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

// check is what a command that checks work looks at. The zero value is no
// check.
type check int

const (
	noCheck check = iota
	linted        // its form
	built         // whether it can be built
	tested        // what it does
)

// checksIn are the checks that a line of shell runs. own is the one of the
// task, which counts as a test.
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

func begins(words, with []string) bool {
	return len(with) > 0 && len(words) >= len(with) && slices.Equal(words[:len(with)], with)
}

// checkOf knows the usual checks by how they begin.
func checkOf(words []string) check {
	if len(words) == 0 {
		return noCheck
	}
	words = slices.Clone(words)
	words[0] = path.Base(words[0])
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

// rewrites tells whether a line of shell changes files, by the usual ways.
func rewrites(text string) bool {
	for _, words := range segments(text) {
		words = program(words)
		if len(words) == 0 {
			continue
		}
		switch name := path.Base(words[0]); {
		case slices.Contains([]string{"tee", "mv", "cp", "rm", "patch", "touch", "truncate", "dd", "install"}, name),
			name == "sed" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" }),
			name == "perl" && slices.ContainsFunc(words, func(w string) bool {
				return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "i")
			}),
			name == "git" && len(words) > 1 && slices.Contains([]string{"apply", "checkout", "restore", "mv", "rm", "reset", "stash", "revert"}, words[1]),
			name == "gofmt" && slices.Contains(words, "-w"):
			return true
		}
		for i, w := range words {
			to, is := strings.CutPrefix(strings.TrimLeft(w, "12"), ">")
			to = strings.TrimPrefix(to, ">")
			if is && to == "" && i+1 < len(words) {
				to = words[i+1]
			}
			if is && to != "" && !strings.HasPrefix(to, "/dev/") {
				return true
			}
		}
	}
	return false
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
