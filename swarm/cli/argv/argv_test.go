package argv

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// heard holds the values that urfave passed to an action of the fixture.
type heard struct {
	command     string
	args, after []string
	hasAfter    bool
	dir         string
	json, force bool
	jobs        int
	timeout     time.Duration
	each        []string
	label       string
}

// fixture is an app with each sort of flag and command. Its actions record
// their values in out.
func fixture(out *heard) *cli.App {
	listen := func(c *cli.Context) error {
		inv := cmdline.Invoked(c)
		*out = heard{
			command: c.Command.Name, args: c.Args().Slice(), after: inv.After,
			hasAfter: inv.HasAfter, dir: c.String("C"), json: c.Bool("json"),
			force: c.Bool("force"), jobs: c.Int("jobs"), label: c.String("label"),
			timeout: c.Duration("timeout"), each: c.StringSlice("each"),
		}
		return nil
	}
	run := &cli.Command{
		Name: "run", ArgsUsage: "PROMPT | -- COMMAND...",
		Flags: []cli.Flag{
			cmdline.JSONFlag(),
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` agents at once", Value: 7},
			&cli.StringSliceFlag{Name: "each", Usage: "one agent for each match of `GLOB`"},
			&cli.DurationFlag{Name: "timeout", Usage: "end an agent after `TIME`"},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "go on"},
			&cli.BoolFlag{Name: "secret", Hidden: true},
		},
		Action: listen,
	}
	show := &cli.Command{
		Name: "show", ArgsUsage: "[ADDRESS]", Aliases: []string{"view"},
		Flags: []cli.Flag{
			cmdline.JSONFlag(), &cli.StringFlag{Name: "label", Aliases: []string{"l"}},
			&cli.BoolFlag{Name: "each"}, // a value flag of run
		},
		Action: listen,
	}
	group := &cli.Command{
		Name: "group",
		Subcommands: []*cli.Command{
			{Name: "left", Flags: []cli.Flag{cmdline.JSONFlag()}, Action: listen},
			{Name: "right", Action: listen},
		},
	}
	raw := &cli.Command{Name: "__raw", Hidden: true, SkipFlagParsing: true, Action: listen}
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	version := &cli.Command{Name: "version", Action: func(*cli.Context) error { return nil }}
	return NewApp(env, []*cli.Command{run, show, group, raw, version})
}

// hear parses words and lets urfave carry them out.
func hear(ctx context.Context, words []string) (*heard, *cmdline.Invocation, error) {
	out := &heard{}
	app := fixture(out)
	inv, err := Parse(app, words)
	if err != nil || inv.Help {
		return out, inv, err
	}
	app.Metadata = map[string]any{cmdline.InvocationKey: inv}
	return out, inv, app.RunContext(ctx, inv.Argv)
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give []string
		want heard
	}{
		{[]string{"run", "p"}, heard{command: "run", args: []string{"p"}, jobs: 7}},
		{[]string{"run", "p", "--jobs", "3"}, heard{command: "run", args: []string{"p"}, jobs: 3}},
		{[]string{"run", "-j4", "p"}, heard{command: "run", args: []string{"p"}, jobs: 4}},
		{[]string{"run", "p", "-j", "4"}, heard{command: "run", args: []string{"p"}, jobs: 4}},
		{[]string{"run", "-j=4", "p"}, heard{command: "run", args: []string{"p"}, jobs: 4}},
		{[]string{"run", "--jobs=010", "p"}, heard{command: "run", args: []string{"p"}, jobs: 10}},
		{[]string{"run", "--jobs", "-3"}, heard{command: "run", jobs: -3}},
		{[]string{"run", "--force", "true"}, heard{command: "run", args: []string{"true"}, force: true, jobs: 7}},
		{[]string{"run", "--force=false", "x"}, heard{command: "run", args: []string{"x"}, jobs: 7}},
		{[]string{"run", "-fj4", "x"}, heard{command: "run", args: []string{"x"}, force: true, jobs: 4}},
		{[]string{"run", "-fj", "4", "x"}, heard{command: "run", args: []string{"x"}, force: true, jobs: 4}},
		{[]string{"run", "-"}, heard{command: "run", args: []string{"-"}, jobs: 7}},
		{[]string{"run", "", " "}, heard{command: "run", args: []string{"", " "}, jobs: 7}},
		{[]string{"run", "run", "help", "show"}, heard{command: "run", args: []string{"run", "help", "show"}, jobs: 7}},
		{
			[]string{"run", "--each", "p/{a,b}", "x", "--each= c", "--each", "-d"},
			heard{command: "run", args: []string{"x"}, each: []string{"p/{a,b}", " c", "-d"}, jobs: 7},
		},
		{
			[]string{"run", "--each", "a", "--", "sh", "-c", "x", "--", "--json"},
			heard{
				command: "run", each: []string{"a"}, hasAfter: true, jobs: 7,
				after: []string{"sh", "-c", "x", "--", "--json"},
			},
		},
		{[]string{"run", "--"}, heard{command: "run", hasAfter: true, jobs: 7}},
		{[]string{"show", "--", "-x", "--", "--json"}, heard{command: "show", args: []string{"-x", "--", "--json"}}},
		{[]string{"show", "--label", "--json"}, heard{command: "show", label: "--json"}},
		{[]string{"show", "--label="}, heard{command: "show"}},
		{[]string{"show", "--label=a=b"}, heard{command: "show", label: "a=b"}},
		{[]string{"show", "-lx"}, heard{command: "show", label: "x"}},
		{[]string{"view", "a1"}, heard{command: "show", args: []string{"a1"}}},
		{[]string{"-C", "d", "show", "a"}, heard{command: "show", args: []string{"a"}, dir: "d"}},
		{[]string{"show", "a", "-C", "d"}, heard{command: "show", args: []string{"a"}, dir: "d"}},
		{[]string{"-Cd", "show"}, heard{command: "show", dir: "d"}},
		{[]string{"--json", "show", "a"}, heard{command: "show", args: []string{"a"}, json: true}},
		{[]string{"--label", "x", "show", "a"}, heard{command: "show", args: []string{"a"}, label: "x"}},
		{[]string{"-j4", "run", "a"}, heard{command: "run", args: []string{"a"}, jobs: 4}},
		{[]string{"--timeout", "1m", "-j", "4", "run", "a"}, heard{command: "run", args: []string{"a"}, jobs: 4, timeout: time.Minute}},
		{[]string{"group", "left", "x", "--json"}, heard{command: "left", args: []string{"x"}, json: true}},
		{[]string{"group", "-C", "d", "right", "left"}, heard{command: "right", args: []string{"left"}, dir: "d"}},
		{[]string{"__raw", "-x", "--", "--help"}, heard{command: "__raw", args: []string{"-x", "--", "--help"}}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.give, " "), func(t *testing.T) {
			t.Parallel()
			got, _, err := hear(t.Context(), tt.give)
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.give, err)
			}
			if !sameHeard(*got, tt.want) {
				t.Errorf("Parse(%q) = %+v, want %+v", tt.give, *got, tt.want)
			}
		})
	}
}

// sameHeard compares two records; no words and an empty list are the same.
func sameHeard(a, b heard) bool {
	return a.command == b.command && slices.Equal(a.args, b.args) &&
		slices.Equal(a.after, b.after) && a.hasAfter == b.hasAfter &&
		a.dir == b.dir && a.json == b.json && a.force == b.force &&
		a.jobs == b.jobs && a.timeout == b.timeout &&
		slices.Equal(a.each, b.each) && a.label == b.label
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give       []string
		want, hint string
	}{
		{[]string{"rnu"}, "unknown command \"rnu\", did you mean run?", ""},
		{[]string{"ver"}, "unknown command \"ver\", did you mean version?", ""},
		{[]string{"zzz"}, "unknown command \"zzz\"", "swarm help lists the commands"},
		{[]string{"fix the bug"}, "unknown command \"fix the bug\"", "a prompt goes to run: swarm run \"PROMPT\""},
		{[]string{"help", "shwo"}, "unknown command \"shwo\", did you mean show?", ""},
		{[]string{"\x1b[2J"}, `unknown command "\x1b[2J"`, "swarm help lists the commands"},
		{[]string{"-C", "d"}, "no command given", "swarm help lists the commands"},
		{[]string{"--json"}, "no command given", "swarm help lists the commands"},
		{[]string{"--"}, "no command given", "swarm help lists the commands"},
		{[]string{"--", "run"}, "no command given", "swarm help lists the commands"},
		{[]string{"run", "--jsno"}, "run: unknown flag --jsno, did you mean --json?", ""},
		{[]string{"run", "--time", "3s"}, "run: unknown flag --time, did you mean --timeout?", ""},
		{[]string{"run", "-json"}, "run: unknown flag -json, did you mean --json?", ""},
		{[]string{"run", "-each=x"}, "run: unknown flag -each, did you mean --each?", ""},
		{[]string{"run", "-x"}, "run: unknown flag -x", "swarm help run lists its flags"},
		{[]string{"run", "--secre"}, "run: unknown flag --secre", "swarm help run lists its flags"},
		{[]string{"run", "---json"}, "run: unknown flag ---json, did you mean --json?", ""},
		{[]string{"run", "--=x"}, "run: unknown flag --", "swarm help run lists its flags"},
		{[]string{"run", "--j", "4"}, "run: unknown flag --j, did you mean -j?", ""},
		{[]string{"--jbos", "4", "run"}, "unknown flag --jbos, did you mean --jobs?", ""},
		{[]string{"--each", "run"}, "flag --each must stand after its command", ""},
		{[]string{"--label", "run"}, "no command given", "swarm help lists the commands"},
		{[]string{"--label", "x", "run"}, "run: unknown flag --label", "swarm help run lists its flags"},
		{
			[]string{"run", "--weird prompt"},
			"run: unknown flag \"--weird prompt\": up to -- a word that starts with - is a flag",
			"put a space before the - to pass it as an argument",
		},
		{
			[]string{"show", "--weird name"},
			"show: unknown flag \"--weird name\": up to -- a word that starts with - is a flag",
			"put it after -- to pass it as an argument",
		},
		{[]string{"run", "--jobs"}, "run: flag --jobs needs a value: --jobs N", ""},
		{[]string{"run", "p", "-j"}, "run: flag -j needs a value: -j N", ""},
		{[]string{"run", "--each", "--", "gofmt"}, "run: flag --each needs a value: --each GLOB", ""},
		{[]string{"--jobs", "--", "run"}, "no command given", "swarm help lists the commands"},
		{[]string{"run", "-j4", "--jobs=4"}, "run: flag --jobs is given twice", ""},
		{[]string{"run", "--json", "--json"}, "run: flag --json is given twice", ""},
		{[]string{"-C", "a", "show", "-C", "a"}, "show: flag -C is given twice", ""},
		{[]string{"run", "--jobs", "many"}, "run: flag --jobs wants a whole number, not \"many\"", ""},
		{[]string{"run", "-j="}, "run: flag -j wants a whole number, not \"\"", ""},
		{[]string{"run", "--timeout=5"}, "run: flag --timeout wants a duration such as 90s or 1h30m, not \"5\"", ""},
		{[]string{"run", "--json=perhaps"}, "run: flag --json wants true or false, not \"perhaps\"", ""},
		{[]string{"group"}, "group: needs one of its own commands: left, right", ""},
		{[]string{"group", "rihgt"}, "group: unknown command \"rihgt\", did you mean right?", ""},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.give, " "), func(t *testing.T) {
			t.Parallel()
			got, _, err := hear(t.Context(), tt.give)
			if err == nil {
				t.Fatalf("Parse(%q) = %+v, want error %q", tt.give, *got, tt.want)
			}
			if err.Error() != tt.want || exit.HintOf(err) != tt.hint {
				t.Errorf("Parse(%q) = %q, hint %q\nwant %q, hint %q",
					tt.give, err, exit.HintOf(err), tt.want, tt.hint)
			}
			if code := exit.CodeOf(err); code != exit.Usage {
				t.Errorf("Parse(%q): code %d, want %d", tt.give, code, exit.Usage)
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give []string
		want string
	}{
		{nil, ""},
		{[]string{"help"}, ""},
		{[]string{"--help"}, ""},
		{[]string{"-h"}, ""},
		{[]string{"help", "run"}, "run"},
		{[]string{"run", "--help"}, "run"},
		{[]string{"run", "p", "-j4", "-h"}, "run"},
		{[]string{"--help", "run"}, "run"},
		{[]string{"help", "group"}, "group"},
		{[]string{"help", "group", "left"}, "group left"},
		{[]string{"group", "left", "--help"}, "group left"},
		{[]string{"-C", "d", "--help"}, ""},
	}
	for _, tt := range tests {
		_, inv, err := hear(t.Context(), tt.give)
		if err != nil || !inv.Help || cmdline.Path(inv.Path) != tt.want {
			t.Errorf("Parse(%q) = help %v of %q, %v, want help of %q",
				tt.give, inv.Help, cmdline.Path(inv.Path), err, tt.want)
		}
	}
	if _, inv, _ := hear(t.Context(), []string{"run", "--", "--help"}); inv.Help {
		t.Errorf("Parse(run -- --help) is help, want the agent's own flag")
	}
}

// FuzzParse checks that urfave reads exactly the parsed words, and that
// no word is lost, made up or moved past another.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"run\np", "run\n-j4\np\n--\nsh\n-c\nx", "--json\nshow\na\n-lx", "group\nleft\n--json",
		"-C\nd\nrun\n--each\na,b\n--each\nc", "run\n-fj\n3\n-\n--timeout\n1s", "__raw\n--\n-x",
		"show\n--\n--\n--json", "--label\n--\nshow", "--version", "run\n--=\n---\n-=", "view\n-l=", "-\xff\nrun",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\n")
		got, inv, err := hear(t.Context(), words)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("Parse(%q): error of several lines: %q", words, err)
			}
			return
		}
		if inv.Help || got.command == "" { // the version command does not listen
			return
		}
		handed := slices.Concat(got.args, got.after)
		if !subsequence(handed, words) {
			t.Errorf("Parse(%q) hands over %q: words made up or moved", words, handed)
		}
		if got.command == "__raw" {
			return
		}
		for i, w := range words {
			plain := w == "-" || !strings.HasPrefix(w, "-")
			if plain && i > 0 && !strings.HasPrefix(words[i-1], "-") &&
				!slices.Contains(handed, w) && !isName(inv, w) {
				t.Errorf("Parse(%q) lost %q, handed over %q", words, w, handed)
			}
		}
	})
}

func isName(inv *cmdline.Invocation, word string) bool {
	return slices.ContainsFunc(inv.Path, func(c *cli.Command) bool { return c.HasName(word) })
}

func subsequence(part, whole []string) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}
