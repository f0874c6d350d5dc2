package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// doing is a command whose action is act.
func doing(act func(c *cli.Context) error) *cli.Command {
	return &cli.Command{
		Name: "do", Usage: "do it", ArgsUsage: "[WHAT]",
		Flags: []cli.Flag{cmdline.JSONFlag(), &cli.UintFlag{Name: "level"}}, Action: act,
	}
}

// outcome holds the exit code and the output of a call of Main.
type outcome struct {
	code           int
	stdout, stderr string
}

func runMain(ctx context.Context, dir string, cmd *cli.Command, words ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := Main(ctx, cmdline.Env{
		Args: words, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
	}, cmd)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestMainErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		words []string
		err   error
		want  outcome
	}{
		{"good", []string{"do"}, nil, outcome{0, "", ""}},
		{"plain", []string{"do"}, errors.New("boom"), outcome{1, "", "swarm: boom\n"}},
		{
			"hint", []string{"do"}, &exit.UsageError{Text: "bad", Advice: "do better"},
			outcome{2, "", "swarm: bad\nhint: do better\n"},
		},
		{"silent", []string{"do", "--json"}, &exit.Error{Code: exit.Degraded}, outcome{3, "", ""}},
		{
			"foreign text", []string{"do"}, errors.New("file \x1b[2J\nswarm: all is well"),
			outcome{1, "", "swarm: file \\x1b[2J\n  swarm: all is well\n"},
		},
		{
			"refused as JSON", []string{"do", "--json"}, exit.Usagef("a < b"),
			outcome{
				2, `{"schema":"swarm.error/1","error":{"kind":"invalid","message":"a < b"}}` + "\n",
				"swarm: a < b\n",
			},
		},
		{
			"approval as JSON", []string{"do", "--json"},
			&exit.Error{Code: exit.Approval, Err: &exit.UsageError{Text: "foreign trouble", Advice: "--trust"}},
			outcome{
				5, `{"schema":"swarm.error/1","error":{"kind":"refused","message":"foreign trouble","hint":"--trust"}}` + "\n",
				"swarm: foreign trouble\nhint: --trust\n",
			},
		},
		{
			"flag refused as JSON", []string{"do", "--jsn", "--json"}, nil,
			outcome{
				2, `{"schema":"swarm.error/1","error":{"kind":"invalid","message":"do: unknown flag --jsn, did you mean --json?"}}` + "\n",
				"swarm: do: unknown flag --jsn, did you mean --json?\n",
			},
		},
		{
			"JSON of the agent's", []string{"rnu", "--", "--json"}, nil,
			outcome{2, "", "swarm: unknown command \"rnu\", did you mean run?\n"},
		},
		{
			"value that urfave refuses", []string{"do", "--level", "-1"}, nil,
			outcome{2, "", "swarm: do: invalid value \"-1\" for flag -level: parse error\n"},
		},
		{
			"text of git with a command to type", []string{"do"}, exit.Usagef("no\n\n\tgit config\x1b x"),
			outcome{2, "", "swarm: no\n\n  \tgit config\\x1b x\n"},
		},
		{"JSON switched off", []string{"do", "--json=false"}, exit.Usagef("x"), outcome{2, "", "swarm: x\n"}},
		{"too many arguments", []string{"version", "x"}, nil, outcome{2, "", "swarm: version: takes no argument, but got \"x\"\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := doing(func(*cli.Context) error { return tt.err })
			if got := runMain(t.Context(), t.TempDir(), cmd, tt.words...); got != tt.want {
				t.Errorf("Main(%q) = %+v\nwant %+v", tt.words, got, tt.want)
			}
		})
	}
}

// TestMainOneObject holds that --json never prints a second object.
func TestMainOneObject(t *testing.T) {
	t.Parallel()
	cmd := doing(func(c *cli.Context) error {
		if err := cmdline.PrintJSON(c.App.Writer, map[string]int{"n": 1}); err != nil {
			return err
		}
		return &exit.Error{Code: exit.Approval, Err: errors.New("nobody answered")}
	})
	got := runMain(t.Context(), t.TempDir(), cmd, "do", "--json")
	if want := (outcome{5, "{\"n\":1}\n", "swarm: nobody answered\n"}); got != want {
		t.Errorf("Main = %+v, want %+v", got, want)
	}
}

func TestMainSignal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&exit.SignalError{Signal: syscall.SIGINT})
	cmd := doing(func(c *cli.Context) error { return fmt.Errorf("wait for agents: %w", c.Context.Err()) })
	if got, want := runMain(ctx, t.TempDir(), cmd, "do"), (outcome{130, "", "swarm: stopped by Ctrl-C\n"}); got != want {
		t.Errorf("Main = %+v, want %+v", got, want)
	}
	cmd = doing(func(*cli.Context) error { return errors.New("other") })
	if got := runMain(ctx, t.TempDir(), cmd, "do"); got.code != 1 {
		t.Errorf("Main with an error of its own = %+v, want code 1", got)
	}
}

func TestMainDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		words []string
		want  outcome
	}{
		{[]string{"do"}, outcome{0, dir, ""}},
		{[]string{"do", "-C", "sub dir"}, outcome{0, filepath.Join(dir, "sub dir"), ""}},
		{[]string{"-C", dir + "/sub dir/..", "do"}, outcome{0, dir, ""}},
		{[]string{"-C", "gone", "do"}, outcome{2, "", "swarm: -C gone: there is no such folder\n"}},
		{[]string{"-C", "file", "do"}, outcome{2, "", "swarm: -C file: not a folder\n"}},
		{[]string{"-C=", "do"}, outcome{2, "", "swarm: -C needs a folder, not an empty word\n"}},
	}
	for _, tt := range tests {
		cmd := doing(func(c *cli.Context) error {
			_, err := fmt.Fprint(c.App.Writer, cmdline.Invoked(c).Dir)
			return err
		})
		if got := runMain(t.Context(), dir, cmd, tt.words...); got != tt.want {
			t.Errorf("Main(%q) = %+v, want %+v", tt.words, got, tt.want)
		}
	}
}

func TestMainFullDisk(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	end, full := io.Pipe()
	_ = end.CloseWithError(errors.New("no space left"))
	env := cmdline.Env{
		Args: []string{"do"}, Stdin: strings.NewReader(""), Stdout: full, Stderr: &stderr, Dir: t.TempDir(),
	}
	careless := doing(func(c *cli.Context) error {
		_, _ = fmt.Fprintln(c.App.Writer, "the result")
		return nil
	})
	code := Main(t.Context(), env, careless)
	if want := "swarm: write standard output: no space left\n"; code != 1 || stderr.String() != want {
		t.Errorf("Main = %d, %q, want 1, %q", code, stderr.String(), want)
	}
}

// TestMainPanics holds that a bug is seen with its stack, not swallowed.
func TestMainPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "bug" {
			t.Errorf("recovered %v, want the command's own panic", got)
		}
	}()
	got := runMain(t.Context(), t.TempDir(), doing(func(*cli.Context) error { panic("bug") }), "do")
	t.Errorf("Main = %+v, want a panic", got)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	idle := doing(func(*cli.Context) error { return nil })
	for _, words := range [][]string{{"version"}, {"--version"}} {
		if got := runMain(t.Context(), "/", idle, words...); got.code != 0 || !strings.HasPrefix(got.stdout, "swarm ") {
			t.Errorf("Main(%q) = %+v", words, got)
		}
	}
	got := runMain(t.Context(), "/", idle, "--version", "--json")
	var v cmdline.VersionReport
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || v.Schema != "swarm.version/1" || v.Version == "" {
		t.Errorf("Main(version --json) = %+v, %v", got, err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		least, most int
		give        []string
		want        string
	}{
		{0, 0, nil, ""},
		{1, 1, []string{"a"}, ""},
		{1, -1, []string{"a", "b", "c"}, ""},
		{1, 1, nil, "do: an argument is missing; usage: swarm do [WHAT]"},
		{0, 0, []string{"a"}, "do: takes no argument, but got \"a\""},
		{0, 1, []string{"a", "b"}, "do: takes 1 argument, but got one more: \"b\""},
		{0, 2, []string{"a", "b", "c\n"}, "do: takes 2 arguments, but got one more: \"c\\n\""},
	}
	for _, tt := range tests {
		cmd := doing(func(c *cli.Context) error {
			args, err := cmdline.Arguments(c, tt.least, tt.most)
			if err == nil && strings.Join(args, " ") != strings.Join(tt.give, " ") {
				t.Errorf("arguments = %q, want %q", args, tt.give)
			}
			return err
		})
		got := runMain(t.Context(), "/", cmd, append([]string{"do"}, tt.give...)...)
		if want := tt.want; want != "" && got.stderr != "swarm: "+want+"\n" || want == "" && got.code != 0 {
			t.Errorf("arguments(%d, %d) of %q: %+v, want %q", tt.least, tt.most, tt.give, got, want)
		}
	}
}

// TestVersionOf: a build says its version, or the commit that it was made from.
func TestVersionOf(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	tests := []struct {
		name string
		give *debug.BuildInfo
		want string
	}{
		{"a release", built("v1.2.3", revision), "v1.2.3"},
		{"a commit after a release", built("v1.2.4-0.20261127000000-0123456789ab", revision), "v1.2.4-0.20261127000000-0123456789ab"},
		{"a commit", built("(devel)", revision), "devel-0123456789ab"},
		{"a changed checkout", built("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "devel-0123456789ab+dirty"},
		{"go run", built("(devel)"), "devel"},
		{"nothing is known", nil, "devel"},
	}
	for _, tt := range tests {
		if got := cmdline.VersionOf(tt.give).Version; got != tt.want {
			t.Errorf("%s: version is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestForeignCommand: words of other programs lead to commands that exist, and no
// command of swarm is such a word.
func TestForeignCommand(t *testing.T) {
	t.Parallel()
	names := cmdline.VisibleNames(builtin(cmdline.Env{}))
	for give, want := range map[string]string{
		"top": "watch", "restart": "retry", "remove": "rm", "restore": "rm --undo", "questions": "inbox", "cost": "usage",
		"deploy": "", "": "",
	} {
		got := argv.ForeignCommand(give)
		if got != want {
			t.Errorf("ForeignCommand(%q) = %q, want %q", give, got, want)
		}
		if first, _, _ := strings.Cut(got, " "); got != "" && !slices.Contains(names, first) {
			t.Errorf("%q leads to %q, which is not a command", give, got)
		}
	}
	for _, name := range names {
		if got := argv.ForeignCommand(name); got != "" {
			t.Errorf("the command %q is taken for %q", name, got)
		}
	}
}
