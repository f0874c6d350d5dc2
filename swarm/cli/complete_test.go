package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/cmdline"
)

func TestSlot(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string][]string{
		"":                                 {"", "", ""},
		"[RUN]":                            {"RUN", "", ""},
		"RUN…":                             {"RUN", "RUN", "RUN"},
		"[RUN | AGENT…]":                   {"RUN AGENT", "RUN AGENT", "RUN AGENT"},
		"RUN | AGENT...":                   {"RUN AGENT", "RUN AGENT", "RUN AGENT"},
		"ADDR [TEXT]":                      {"ADDR", "TEXT", ""},
		"ID [yes|no|TEXT]":                 {"ID", "yes no TEXT", ""},
		"AGENT -- COMMAND [ARGUMENT…]":     {"AGENT", "", ""},
		"PROMPT | -- COMMAND [ARGUMENT…]":  {"PROMPT", "", ""},
		"bash | zsh | fish":                {"bash zsh fish", "", ""},
		"[PROMPT | FILE | -] [-- COMMAND]": {"PROMPT FILE -", "", ""},
		"| odd":                            {"odd", "", ""},
	} {
		for n, kinds := range want {
			if got := strings.Join(slot(usage, n), " "); got != kinds {
				t.Errorf("slot(%q, %d) = %q, want %q", usage, n, got, kinds)
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give, want string
		open       bool
	}{
		{"plain", "plain", false},
		{`my\ label`, "my label", false},
		{`'my label'`, "my label", false},
		{`a"b c"d`, "ab cd", false},
		{`"a\$b\x"`, `a$b\x`, false},
		{`'a\'`, `a\`, false},
		{`"pkg/`, "pkg/", true},
		{`'it"s`, `it"s`, true},
		{`$(touch pwned)`, `$(touch pwned)`, false},
		{"`x` $HOME ~", "`x` $HOME ~", false},
		{`end\`, `end\`, false},
	}
	for _, tt := range tests {
		if got, open := unquote(tt.give); got != tt.want || open != tt.open {
			t.Errorf("unquote(%q) = %q, %v, want %q, %v", tt.give, got, open, tt.want, tt.open)
		}
	}
}

// FuzzUnquote checks that unquote reads a quoted text as that text.
func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{"", "a b", `it's "x"`, `\`, "$(x)", "\xff\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		unquote(text) // does not panic
		if got, open := unquote("'" + strings.ReplaceAll(text, "'", `'\''`) + "'"); got != text || open {
			t.Errorf("unquote of quoted %q = %q, %v", text, got, open)
		}
	})
}

func TestOfferPrint(t *testing.T) {
	t.Parallel()
	o := &offer{shell: shellFiles}
	for _, word := range []string{
		"a1", "a1", "my label", "$(x)", "", "tab\there", "new\nline", "\x1b[2J", "b\xff", "gpj\u202e", strings.Repeat("x", 300),
	} {
		o.add(word, "note\twith\n\x1b")
	}
	for plainOnly, want := range map[bool]string{
		false: `a1 my label $(x)`, true: `a1`,
	} {
		var b bytes.Buffer
		if err := o.print(&b, plainOnly); err != nil {
			t.Fatal(err)
		}
		var words []string
		for line := range strings.Lines(b.String()) {
			word, note, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if word != "" && note != `note\twith\n\x1b` || word == "" && note != "files" {
				t.Errorf("line %q", line)
			}
			words = append(words, word)
		}
		if got := strings.TrimSpace(strings.Join(words, " ")); got != want {
			t.Errorf("print(%v) offers %q, want %q", plainOnly, got, want)
		}
	}
	o = &offer{}
	for i := range 5 * mostCandidates {
		o.add(fmt.Sprint("w", i), "")
	}
	var b bytes.Buffer
	if err := o.print(&b, false); err != nil || strings.Count(b.String(), "\n") != mostCandidates {
		t.Errorf("print offers %d of %d: %v", strings.Count(b.String(), "\n"), 5*mostCandidates, err)
	}
}

// later is a program with commands that swarm does not have yet. The completer
// reads their arguments from their usage lines.
func later() *cli.App {
	return &cli.App{
		Name:  cmdline.Program,
		Flags: []cli.Flag{&cli.StringFlag{Name: "C", Usage: "`DIR`"}},
		Commands: []*cli.Command{
			{
				Name: "answer", Aliases: []string{"reply"}, ArgsUsage: "[yes|no|TEXT]", Action: func(*cli.Context) error { return nil },
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "for", Usage: "for `once|run`"},
					&cli.StringFlag{Name: "mode", Usage: "how: `MODE` is warn, serialize or refuse (default warn)"},
					&cli.BoolFlag{Name: "n"}, &cli.IntFlag{Name: "j", Usage: "`N`"},
					&cli.StringFlag{Name: "out", Usage: "to `FILE`"},
					&cli.StringFlag{Name: "secret", Hidden: true},
				},
			},
			{
				Name: "config",
				Subcommands: []*cli.Command{
					{Name: "show", Action: func(*cli.Context) error { return nil }},
					{Name: "validate", Action: func(*cli.Context) error { return nil }},
				},
			},
			{Name: "hidden", Hidden: true},
		},
	}
}

func TestCompleteFromTables(t *testing.T) {
	t.Parallel()
	tests := []struct{ give, want string }{
		{"", "answer config help"},
		{"co", "config"},
		{"re", "reply"},
		{"config ", "show validate"},
		{"config v", "validate"},
		{"help ", "answer config"},
		{"help config s", "show"},
		{"answer ", "yes no"},
		{"answer yes ", ""},
		{"answer n", "no"},
		{"answer --", "--for --mode --out --help"},
		{"answer --for once --", "--mode --out --help"},
		{"answer --for ", "once run"},
		{"answer --for o", "once"},
		{"answer --mode ", "warn serialize refuse"},
		{"answer --for=", "--for=once --for=run"},
		{"answer -nj ", ""},
		{"answer -n ", "yes no"},
		{"answer -j 4 y", "yes"},
		{"answer --out ", "(files)"},
		{"--out ", "(files)"},
		{"-C ", "(folders)"},
		{"answer -- ", "yes no"},
		{"answer --for --", ""},
		{"answer --wrong ", ""},
		{"hidden", ""},
		{"answer --sec", ""},
	}
	state := t.TempDir()
	for _, tt := range tests {
		o := complete(t.Context(), cmdline.Env{Dir: t.TempDir(), Getenv: getenv.Func("SWARM_STATE_DIR=" + state)}, later(), strings.Split(tt.give, " "))
		var words []string
		for _, c := range o.candidates {
			if !slices.Contains(words, c.word) {
				words = append(words, c.word)
			}
		}
		if o.shell != shellNothing {
			words = append(words, "("+string(o.shell)+")")
		}
		if got := strings.Join(words, " "); got != tt.want {
			t.Errorf("complete(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}
