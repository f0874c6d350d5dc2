package configcmd

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/models/catalog"
	"agentswarm/swarm/store"
)

// NewModels returns the command models.
func NewModels(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "models",
		Usage: "list models, their sizes and prices",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "provider", Usage: "only models of `PROVIDER`, or of an agent CLI that lists some"},
			&cli.BoolFlag{Name: "refresh", Usage: "ask again, also within a day"},
			cmdline.JSONFlag(),
		},
		Description: `Asks the providers for the models they have: those that swarm knows (anthropic,
google, ollama, openai), those of [providers] in your own configuration, and the agent
CLIs that are installed and can list models (codex, opencode, pi). Providers that did
not answer are listed last, with the reason.

Limits and prices come from your configuration, else from the provider, else from a
table in swarm; the date beside a price is that of the table. An answer is kept for a
day. Keys are read from the environment and never shown.

Examples:
  swarm models
  swarm models --provider ollama
  swarm models --refresh --json`,
		Action: func(c *cli.Context) error { return modelsAction(c, env) },
	}
}

// modelsObject is swarm.models/1, described in docs/json.md.
type modelsObject struct {
	Schema    string         `json:"schema"`
	Providers []catalog.List `json:"providers"`
}

func modelsAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	conf, err := cmdline.UserConfig(env)
	if err != nil {
		return err
	}
	k, err := NewCatalog(env, conf)
	if err != nil {
		return err
	}
	sources, err := k.Sources(c.String("provider"))
	if err != nil {
		return cmdline.Refused(fmt.Errorf("models: %w", err))
	}
	lists, err := k.Ask(c.Context, sources, c.Bool("refresh"))
	if err != nil { // the next call asks again
		fmt.Fprintln(env.Stderr, cmdline.Program+": "+termtext.Line(termtext.ErrorLine(err)))
	}
	o := modelsObject{Schema: "swarm.models/1", Providers: lists}
	if err := c.Context.Err(); err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	return o.print(env.Stdout, width)
}

// NewCatalog is the catalog of models with the configuration of a user.
func NewCatalog(env cmdline.Env, conf *config.Config) (*catalog.Catalog, error) {
	root, err := store.Root(env.Getenv)
	if err != nil {
		return nil, cmdline.Refused(err)
	}
	return catalog.New(cmdline.NewMachine(env), conf, root)
}

// print shows the models to a person.
func (o *modelsObject) print(w io.Writer, width int) error {
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "MODEL", Flex: true}, {Title: "CONTEXT", Right: true}, {Title: "OUTPUT", Right: true}, {Title: "$ IN", Right: true},
		{Title: "$ OUT", Right: true}, {Title: "$ CACHED", Right: true}, {Title: "PRICE"}, {Title: "LISTED BY"},
	}}
	var notes, unkeyed []string
	some := false
	for _, p := range o.Providers {
		by := p.Name
		if p.Kind == catalog.FromAgent {
			by += " (agent)"
		}
		if p.Cached {
			by += ", " + termtext.Ago(time.Now(), *p.Asked)
		}
		switch {
		case p.Unkeyed != "":
			unkeyed = append(unkeyed, fmt.Sprintf("%s ($%s)", p.Name, p.Unkeyed))
		case p.Failed != "":
			notes = append(notes, termtext.Line(p.Name+": "+p.Failed))
		}
		for _, m := range p.Models {
			some = true
			listed := by
			if m.From == catalog.FromConfiguration {
				listed = catalog.FromConfiguration
			}
			in, out, cached := "", "", ""
			if m.Price != nil {
				in, out = dollars(m.Price.Input), dollars(m.Price.Output)
				if m.Price.CacheRead != nil {
					cached = dollars(*m.Price.CacheRead)
				}
			}
			t.Row(m.Model, tokens(m.Context), tokens(m.Output), in, out, cached, strings.TrimSpace(m.PriceOf+" "+m.PriceDay), listed)
		}
	}
	if len(unkeyed) > 0 {
		notes = append(notes, termtext.Line("no key for "+strings.Join(unkeyed, ", ")))
	}
	if some {
		if err := t.Print(w, width); err != nil {
			return err
		}
		notes = append([]string{"", "Prices are in dollars per million tokens."}, notes...)
		if len(notes) > 2 {
			notes = append(notes[:2:2], append([]string{""}, notes[2:]...)...)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, strings.Join(notes, "\n"))
	return err
}

// tokens is a number of tokens for a person; empty where it is not known.
func tokens(n int64) string {
	if n == 0 {
		return ""
	}
	return termtext.Number(int(n))
}

// dollars is an amount without more digits than it has.
func dollars(amount float64) string {
	return cmp.Or(strconv.FormatFloat(amount, 'f', -1, 64), "0")
}
