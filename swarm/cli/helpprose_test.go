package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
)

// helpSentences are the sentences of the descriptions of commands, without their
// examples.
func helpSentences(commands []*cli.Command) (all []string) {
	end := regexp.MustCompile(`[.!?:]\s+`)
	for _, cmd := range commands {
		about, _, _ := strings.Cut(cmd.Description, examplesTitle)
		for paragraph := range strings.SplitSeq(about, "\n\n") {
			for _, s := range end.Split(strings.Join(strings.Fields(paragraph), " ")+" ", -1) {
				if s != "" {
					all = append(all, s)
				}
			}
		}
		all = append(all, helpSentences(cmd.Subcommands)...)
	}
	return all
}

// TestHelpProse: 9 of 10 sentences of help have at most 26 words, and no sentence puts a
// clause in the place of a noun.
func TestHelpProse(t *testing.T) {
	t.Parallel()
	const most = 26
	opening := regexp.MustCompile(`^(What|Of|Who|Nothing|Refused are|To \w+ \w+ing)\b`)
	all := helpSentences(builtin(cmdline.Env{}))
	if len(all) < 200 {
		t.Fatalf("help has %d sentences, want more", len(all))
	}
	for _, s := range all {
		if opening.MatchString(s) {
			t.Errorf("a sentence of help begins with a clause: %q", s)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(strings.Fields(a)) - len(strings.Fields(b)) })
	at := all[len(all)*9/10]
	t.Logf("%d sentences, 9 of 10 with at most %d words", len(all), len(strings.Fields(at)))
	if len(strings.Fields(at)) > most {
		t.Errorf("a tenth of the %d sentences of help has more than %d words; one is %q", len(all), most, at)
	}
}
