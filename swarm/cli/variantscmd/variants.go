package variantscmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/configcmd"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/variantset"
	"agentswarm/variants"
)

// New returns the command variants, with variants bench below it.
func New(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "variants",
		Usage:     "list additions to prompts against failure modes of models",
		ArgsUsage: "[MODEL]",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `A variant is a short text against a known failure mode of one family of models. The
system prompt of an agent ends with the variants for the family of its model. With a
model, the command prints its family and variants; without one, it lists all of them.

A file FAMILY/MODE.md replaces or adds a variant. It lies below the committed
.swarm/variants of the repository, or below variants beside your configuration for
all repositories. The repository's wins. [variants] in the configuration switches
some or all of them off.

Examples:
  swarm variants
  swarm variants openrouter/anthropic/claude-opus
  swarm variants qwen3-coder:30b --json`,
		Action:      func(c *cli.Context) error { return variantsAction(c, env) },
		Subcommands: []*cli.Command{newBenchCommand(env)},
	}
}

// variantsObject is swarm.variants/1, described in docs/json.md.
type variantsObject struct {
	Schema   string          `json:"schema"`
	Model    string          `json:"model,omitempty"`
	Family   variants.Family `json:"family,omitempty"` // of the model; empty: none that is known
	Enabled  bool            `json:"enabled"`
	Variants []knownVariant  `json:"variants"`
}

// knownVariant is a variant of a variantsObject.
type knownVariant struct {
	variants.Variant
	Off bool `json:"off,omitempty"` // the configuration leaves it out
}

func variantsAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return err
	}
	conf, err := configcmd.ConfigAnywhere(c, env)
	if err != nil {
		return err
	}
	p, base, err := configcmd.PlaceAnywhere(c, env)
	if err != nil {
		return err
	}
	all, err := plan.AllVariants(c.Context, p, base)
	if err != nil {
		return err
	}
	if p.Repo != nil && !p.Repo.Bare() {
		if differ := variantset.Uncommitted(p.Repo.TopLevel, all); len(differ) > 0 {
			fmt.Fprintf(env.Stderr, "not committed: %s; agents are told what the commit has that a run starts from\n", termtext.Line(plan.FirstFew(differ)))
		}
	}
	o := &variantsObject{Schema: "swarm.variants/1", Enabled: !conf.NoVariants, Variants: []knownVariant{}}
	if len(args) > 0 {
		o.Model, o.Family = args[0], variants.Of(args[0])
		all = variants.Treat(o.Family, all)
	}
	o.list(all, conf)
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	for _, text := range variantset.UnknownOff(all, conf.VariantsOff) {
		if len(args) == 0 {
			fmt.Fprintf(env.Stderr, "%s: %s\n", cmdline.Program, termtext.Line(text))
		}
	}
	return o.print(env.Stdout)
}

func (o *variantsObject) list(all []variants.Variant, conf *config.Config) {
	kept := variants.Less(all, conf.VariantsOff)
	for _, v := range all {
		off := conf.NoVariants || !slices.ContainsFunc(kept, func(k variants.Variant) bool { return k.Key() == v.Key() })
		o.Variants = append(o.Variants, knownVariant{v, off})
	}
}

func (o *variantsObject) print(w io.Writer) error {
	if !o.Enabled {
		fmt.Fprintln(w, "Variants are switched off: agents get none of these.")
	}
	if o.Model != "" {
		fmt.Fprintf(w, "%s: %s\n", termtext.Line(o.Model), cmp.Or(string(o.Family), "of no known family"))
		return o.printTexts(w)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Title: "VARIANT"}, {Title: "FAILURE", Flex: true}, {Title: "FROM"}}}
	for _, v := range o.Variants {
		t.Row(v.Key(), v.Failure, v.from())
	}
	return t.Print(w, 0)
}

// printTexts prints the texts that agents with a model get.
func (o *variantsObject) printTexts(w io.Writer) error {
	if len(o.Variants) == 0 {
		_, err := fmt.Fprintln(w, "There are no variants for it.")
		return err
	}
	for _, v := range o.Variants {
		fmt.Fprintf(w, "\n%s (%s)\n  failure: %s\n", v.Key(), termtext.Line(v.from()), termtext.Line(v.Failure))
		if v.Measure != "" {
			fmt.Fprintf(w, "  measure: %s\n", termtext.Line(v.Measure))
		}
		fmt.Fprintln(w)
		for line := range strings.Lines(v.Text + "\n") {
			fmt.Fprintln(w, strings.TrimRight("    "+termtext.Line(strings.TrimRight(line, "\n")), " "))
		}
	}
	return nil
}

// from is where a variant comes from, and whether it is left out.
func (v *knownVariant) from() string {
	text := cmp.Or(v.File, "built in")
	if v.Off {
		text += ", off"
	}
	return text
}
