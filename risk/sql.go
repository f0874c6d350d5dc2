package risk

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// statements splits SQL into statements. It returns the words of each in upper
// case, without quoted text and comments. A comment that a server runs ("/*! …
// */") counts.
func statements(text string) [][]string {
	var all [][]string
	var words []string
	end := func() {
		if len(words) > 0 {
			all, words = append(all, words), nil
		}
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch ch := text[i]; {
		case strings.HasPrefix(rest, "--"), ch == '#':
			i += lengthTo(rest, "\n", 0)
		case strings.HasPrefix(rest, "/*!"):
			i += len(rest) - len(strings.TrimLeft(rest[3:], "0123456789"))
		case strings.HasPrefix(rest, "*/"):
			i += 2
		case strings.HasPrefix(rest, "/*"):
			i += lengthTo(rest, "*/", 2)
		case ch == '\'' || ch == '"' || ch == '`':
			i += quoted(rest)
			words = append(words, "'")
		case ch == '$' && dollars(rest) > 0:
			i += dollars(rest)
			words = append(words, "'")
		case ch == ';':
			i++
			end()
		case isWordByte(ch):
			j := i
			for j < len(text) && isWordByte(text[j]) {
				j++
			}
			words = append(words, strings.ToUpper(text[i:j]))
			i = j
		case ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r':
			i++
		default:
			words = append(words, text[i:i+1])
			i++
		}
	}
	end()
	return all
}

func isWordByte(b byte) bool {
	return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// lengthTo returns the length of a text up to and with end, searched from an
// index.
func lengthTo(text, end string, from int) int {
	if at := strings.Index(text[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return len(text)
}

// quoted returns the length of a quoted text. A quote inside is doubled or
// follows a backslash, and servers disagree on which. So the text ends at the
// first quote that some server takes for the end.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] != text[0] {
			continue
		}
		if i+1 < len(text) && text[i+1] == text[0] {
			i++
			continue
		}
		return i + 1
	}
	return len(text)
}

// dollars returns the length of the text between "$tag$" marks; 0: none begins
// here.
func dollars(text string) int {
	end := strings.IndexByte(text[1:], '$')
	if end < 0 {
		return 0
	}
	tag := text[:end+2]
	if strings.ContainsFunc(tag[1:len(tag)-1], func(r rune) bool { return r > 0x7f || !isWordByte(byte(r)) }) {
		return 0
	}
	return lengthTo(text, tag, len(tag))
}

// isDestructiveSQL reports whether SQL destroys data or definitions of a
// database. Text quoted by dollars may hold code.
func isDestructiveSQL(text string) bool {
	for _, words := range statements(text) {
		if destroys(words) {
			return true
		}
	}
	if at := strings.IndexByte(text, '$'); at >= 0 && dollars(text[at:]) > 0 {
		upper := strings.ToUpper(text)
		return strings.Contains(upper, "DROP ") || strings.Contains(upper, "TRUNCATE ") || strings.Contains(upper, "DELETE ")
	}
	return false
}

// explained are the words of the statement that an EXPLAIN is about, and
// whether it runs it: with ANALYZE it does. The words of any other statement
// are all of it.
func explained(words []string) (rest []string, runs bool) {
	if !slices.Contains([]string{"EXPLAIN", "ANALYZE", "ANALYSE", "DESCRIBE", "DESC"}, words[0]) {
		return words, true
	}
	runs = strings.HasPrefix(words[0], "ANALY")
	for i, w := range words[1:] {
		switch w {
		case "ANALYZE", "ANALYSE":
			off := i+2 < len(words) && slices.Contains([]string{"FALSE", "OFF", "0"}, words[i+2])
			runs = runs || !off
		case "DELETE", "UPDATE", "INSERT", "REPLACE", "MERGE", "DROP", "TRUNCATE", "ALTER", "CREATE", "WITH", "SELECT", "EXECUTE", "VALUES", "CALL", "BEGIN":
			return words[i+1:], runs
		}
	}
	return words, true
}

// destroys reports whether a statement destroys data or definitions.
func destroys(words []string) bool {
	words, runs := explained(words)
	if !runs {
		return false
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		first := i == 0 || slices.Contains([]string{"AS", "(", ")", "THEN", "BEGIN", "ELSE", "ANALYZE", "VERBOSE", "EXPLAIN"}, words[i-1])
		switch {
		case w == "DROP" && (first || words[0] == "ALTER") && next != "NOT" && next != "DEFAULT" && next != "CONSTRAINT" && next != "":
			return true
		case w == "TRUNCATE" && first && next != "(" && next != "":
			return true
		case w == "DELETE" && first && next != "" && !limited(words[i:]):
			return true
		case w == "DELETE" && next == "WHERE" && words[0] == "ALTER" && !limited(words[i:]): // of ClickHouse
			return true
		case w == "UPDATE" && first && slices.Contains(words[i:], "SET") && !limited(words[i:]):
			return true
		}
	}
	return false
}

// limited says that a statement has a WHERE that leaves something out.
func limited(words []string) bool {
	at := slices.Index(words, "WHERE")
	if at < 0 {
		return false
	}
	rest := strings.Join(words[at+1:], "")
	return !slices.Contains([]string{"", "1", "TRUE", "1=1", "'='", "TRUE=TRUE", "NOTFALSE", "0=0"}, rest)
}

// sqlTexts are the statements that a call is given; unknown says that some of
// them cannot be seen.
func (c *call) sqlTexts() (texts []string, unknown bool) {
	given := c.line.Values("--command", "--execute", "--query", "--eval", "--init-command", "-cmd", "-c", "-Q")
	file := c.line.Has("--file", "-init", "--input-file", "--list")
	if c.inv.Program == "sqlite3" || c.inv.Program == "duckdb" {
		if len(c.line.Operands) > 1 {
			given = append(given, c.line.Operands[1:]...)
		}
	}
	if c.inv.Program == "bq" || c.inv.Program == "clickhouse" {
		given = append(given, c.line.Operands...)
	}
	for _, w := range given {
		texts = append(texts, w.Value)
		unknown = unknown || !w.Known
	}
	switch {
	case len(given) > 0 && c.inv.Program != "mysql" && c.inv.Program != "mariadb":
	case c.inv.Stdin.Kind == shell.StdinText:
		texts = append(texts, c.inv.Stdin.Text)
	case c.inv.Stdin.Kind == shell.StdinUnknown && !file && len(given) == 0:
		unknown = true
	}
	return texts, unknown
}

// runsDestructiveSQL says that a client is given statements that destroy.
func runsDestructiveSQL(c *call) bool {
	texts, _ := c.sqlTexts()
	mongo := strings.HasPrefix(c.inv.Program, "mongo")
	return slices.ContainsFunc(texts, func(text string) bool {
		return mongo && isDestructiveMongo(text) || !mongo && isDestructiveSQL(text)
	})
}

// endsSQLSessions reports whether a client ends the queries or the connections of
// others.
func endsSQLSessions(c *call) bool {
	texts, _ := c.sqlTexts()
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(statements(text), func(words []string) bool {
			words, runs := explained(words)
			if !runs || slices.Contains([]string{"ALTER", "COMMENT", "CREATE", "DROP", "GRANT", "REVOKE"}, words[0]) {
				return false
			}
			at := slices.IndexFunc(words, func(w string) bool {
				name := w[strings.LastIndexByte(w, '.')+1:] // without its schema
				return name == "PG_TERMINATE_BACKEND" || name == "PG_CANCEL_BACKEND"
			})
			return at >= 0 && at+1 < len(words) && words[at+1] == "("
		})
	})
}

// runsUnknownSQL reports whether a client gets SQL that is not known.
func runsUnknownSQL(c *call) bool {
	_, unknown := c.sqlTexts()
	return unknown
}

// sqlRunsPrograms says that a client is told to run a program, or a server is.
func sqlRunsPrograms(c *call) bool {
	texts, _ := c.sqlTexts()
	return slices.ContainsFunc(texts, func(text string) bool {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			for _, verb := range []string{`\!`, "!", ".shell", ".system", "system ", ".once |", ".output |", `\o |`, `\g |`, `\copy`} {
				rest, ok := strings.CutPrefix(strings.ToLower(line), verb)
				if ok && (verb != `\copy` || strings.Contains(rest, " program ")) {
					return true
				}
			}
		}
		return slices.ContainsFunc(statements(text), copiesToProgram)
	})
}

// copiesToProgram says that a statement is a COPY to or from a program.
func copiesToProgram(words []string) bool {
	at := slices.Index(words, "PROGRAM")
	return at > 0 && words[0] == "COPY" && (words[at-1] == "TO" || words[at-1] == "FROM")
}

// isDestructiveMongo reports whether commands for a client of MongoDB destroy
// data.
func isDestructiveMongo(text string) bool {
	text = strings.Join(strings.Fields(text), "")
	for _, sink := range []string{
		".dropDatabase(", ".drop(", ".dropCollection(", ".dropIndexes(", ".deleteMany({})", ".deleteMany()", ".remove({})", ".remove()",
		"dropDatabase:1", ".dropUser(", ".dropAllUsersFromDatabase(",
	} {
		for rest := text; ; {
			before, after, found := strings.Cut(rest, sink)
			if !found {
				break
			}
			if !explains(before) {
				return true
			}
			rest = after
		}
	}
	return false
}

// explains reports whether a query is only explained: its text ends with a call
// of explain.
func explains(text string) bool {
	at := strings.LastIndex(text, ".explain(")
	if at < 0 {
		return false
	}
	args, closed := strings.CutSuffix(text[at+len(".explain("):], ")")
	return closed && !strings.ContainsAny(args, "();")
}

// isBigQueryDryRun says that bq only estimates a query.
func isBigQueryDryRun(c *call) bool { return c.inv.Program == "bq" && c.surely("--dry_run") }

// deletesInRedis reports whether a script calls a command that deletes, or may.
func deletesInRedis(w argv.Word) bool {
	text := strings.ToLower(w.Value)
	return !w.Known || slices.ContainsFunc([]string{"flushall", "flushdb", "'del'", "\"del\"", "unlink", "shutdown"}, func(verb string) bool {
		return strings.Contains(text, verb)
	})
}

// flushesRedis says that a client of Redis is told to delete.
func flushesRedis(c *call) bool {
	lines := [][]argv.Word{c.line.Operands}
	if c.inv.Stdin.Kind == shell.StdinText {
		for line := range strings.Lines(c.inv.Stdin.Text) {
			lines = append(lines, argv.Words(strings.Fields(line)...))
		}
	}
	for _, words := range lines {
		if len(words) == 0 {
			continue
		}
		switch strings.ToUpper(words[0].Value) {
		case "FLUSHALL", "FLUSHDB", "DEL", "UNLINK", "SHUTDOWN":
			return true
		case "EVAL", "EVALSHA", "FCALL":
			if len(words) > 1 && deletesInRedis(words[1]) {
				return true
			}
		case "CONFIG", "SCRIPT", "FUNCTION", "XGROUP", "ACL":
			if len(words) > 1 && slices.Contains([]string{"SET", "FLUSH", "DESTROY", "DELUSER"}, strings.ToUpper(words[1].Value)) {
				return true
			}
		case "":
			if !words[0].Known {
				return true
			}
		}
	}
	return c.line.Has("--eval") && len(c.line.Values("--eval")) == 0
}
