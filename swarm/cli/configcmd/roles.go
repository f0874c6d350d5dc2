package configcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/models/catalog"
)

// NewRoles returns the command roles.
func NewRoles(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "roles",
		Usage: "list roles and the model of each",
		Flags: []cli.Flag{cmdline.JSONFlag()},
		Description: `Lists the roles of calls: the model of each and its source, the agent that runs it,
the known price, and the fallbacks. For a role without a configured model, it
suggests models by price: of those that swarm models listed last, and that you have
a key or a login for. No model is asked.

Examples:
  swarm roles
  swarm roles --json
  swarm run --role smol "where is the cache written?"`,
		Action: func(c *cli.Context) error { return rolesAction(c, env) },
	}
}

// rolesObject is swarm.roles/1, described in docs/json.md.
type rolesObject struct {
	Schema      string             `json:"schema"`
	Roles       []roleObject       `json:"roles"`
	Suggestions []suggestionObject `json:"suggestions,omitempty"`
	// Unlisted are the providers with a key or a login whose models were never
	// listed.
	Unlisted []string `json:"unlisted,omitempty"`
}

// roleObject is a role in the output.
type roleObject struct {
	Name string `json:"name"`
	// Configured is set where the configuration says something of it itself.
	Configured bool   `json:"configured"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	Model      string `json:"model,omitempty"` // absent: left to the agent
	Why        string `json:"why"`
	Agent      string `json:"agent,omitempty"`
	Kind       string `json:"kind,omitempty"`

	Fallbacks []string     `json:"fallbacks,omitempty"`
	Limits    *roleLimits  `json:"limits,omitempty"`
	Price     *roles.Price `json:"price,omitempty"` // absent: not known
	Problem   string       `json:"problem,omitempty"`
}

type roleLimits struct {
	Timeout int64   `json:"timeout_ms,omitempty"`
	Turns   int     `json:"turns,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"`
	USD     float64 `json:"usd,omitempty"`
}

type suggestionObject struct {
	Role  string      `json:"role"`
	Model string      `json:"model"`
	Why   string      `json:"why"`
	Price roles.Price `json:"price"`
}

func rolesAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	conf, err := ConfigAnywhere(c, env)
	if err != nil {
		return err
	}
	known, err := roles.Load()
	if err != nil {
		return err
	}
	r := &roleLister{
		env: env, conf: conf, prices: known.With(conf.Prices()),
		orders: &roles.Orders{Table: conf.Roles(), Providers: catalog.Configured(conf)},
	}
	r.known = plan.KnownProviders(env, conf, r.orders.Providers)
	r.orders.Lacking = r.known.Lacking()
	o, err := r.list()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return o.print(env.Stdout)
}

// roleLister resolves roles.
type roleLister struct {
	env    cmdline.Env
	conf   *config.Config
	prices *roles.Prices
	orders *roles.Orders
	known  *catalog.Providers
}

func (r *roleLister) list() (*rolesObject, error) {
	o := &rolesObject{Schema: "swarm.roles/1", Roles: []roleObject{}}
	var usual roles.Spec
	for _, name := range r.orders.Table.Names() {
		role, spec, err := r.role(name)
		if err != nil {
			return nil, err
		}
		if name == roles.Default {
			usual = spec
		}
		o.Roles = append(o.Roles, *role)
	}
	var err error
	o.Suggestions, o.Unlisted, err = r.suggestions(usual)
	return o, err
}

// role is a role and its resolved model.
func (r *roleLister) role(name string) (*roleObject, roles.Spec, error) {
	o := &roleObject{Name: name}
	role, _ := r.orders.Table.Of(name)
	if _, own := r.orders.Table[name]; own {
		at := r.conf.RoleOrigin(name)
		o.Configured, o.File, o.Line = true, at.File, at.Line
	}
	a, agentErr := r.conf.Agent(cmp.Or(role.Kind, r.conf.DefaultAgent, r.single()))
	asked := roles.Asked{Role: name}
	if agentErr == nil {
		o.Agent, o.Kind = a.Name, a.Kind.String()
		if a.Model != "" {
			asked.Own = roles.Spec{Model: a.Model}
		}
	}
	found, err := r.orders.Resolve(asked)
	if err != nil {
		return nil, roles.Spec{}, err
	}
	o.Model, o.Why = found.Model.String(), whyModel(name, found)
	if price, ok := r.prices.Of(o.Model); ok {
		o.Price = &price
	}
	for _, s := range found.Fallbacks {
		o.Fallbacks = append(o.Fallbacks, s.String())
	}
	if l := found.Limits; l != (roles.Limits{}) {
		o.Limits = &roleLimits{l.Timeout.Milliseconds(), l.Turns, l.Tokens, l.USD}
	}
	o.Problem = r.problem(role, found, agentErr)
	return o, found.Model, nil
}

// single is the agent that alone is configured, or alone is installed.
func (r *roleLister) single() string {
	p := cmdline.Without(r.env)
	name, _, err := plan.OnlyChoice(p, r.conf.AgentNames())
	if err != nil {
		return "" // a run reports the missing agent
	}
	return name
}

// whyModel says in words where a model comes from.
func whyModel(name string, found *roles.Resolved) string {
	for _, step := range found.Steps {
		switch {
		case !step.Holds:
		case step.From == "the agent's own":
			return "configured of its agent"
		case step.From == "role "+name:
			return "configured"
		default:
			return "that of " + strings.TrimPrefix(step.From, "role ")
		}
	}
	return "left to its agent"
}

// problem is the reason that would keep a run from using a role; empty: nothing
// known.
func (r *roleLister) problem(role roles.Role, found *roles.Resolved, agentErr error) string {
	known := cmdline.Kinds(r.env).ByName()
	for _, spec := range append([]roles.Spec{found.Model}, found.Fallbacks...) {
		if reason := r.known.Unknown(spec); reason != "" {
			return reason
		}
	}
	if role.Kind != "" && agentErr != nil {
		return "kind: " + agentErr.Error()
	}
	a, err := r.conf.Agent(cmp.Or(role.Kind, r.conf.DefaultAgent, r.single()))
	if err != nil || a.Kind == config.KindCommand || a.Model != "" && found.Model.Model == a.Model {
		return ""
	}
	kind, driven := known[a.Kind.String()]
	if !driven {
		return ""
	}
	for _, spec := range append([]roles.Spec{found.Model}, found.Fallbacks...) {
		if spec == (roles.Spec{}) {
			continue
		}
		if _, err := kind.Choose(spec, r.orders); err != nil {
			return err.Error()
		}
	}
	return ""
}

// suggestions are models for roles without a configuration. They are known from
// earlier lists of a provider with a key or a login, and the agent of default
// reaches them. No provider is asked for them.
func (r *roleLister) suggestions(usual roles.Spec) (all []suggestionObject, unlisted []string, err error) {
	var missing []string
	for _, name := range []string{roles.Smol, roles.Slow} {
		if _, own := r.orders.Table[name]; !own {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 || usual == (roles.Spec{}) {
		return nil, nil, nil
	}
	k, err := NewCatalog(r.env, r.conf)
	if err != nil {
		return nil, nil, err
	}
	offers, unlisted, err := k.Offers(r.reached())
	if err != nil {
		return nil, nil, err
	}
	usual.Effort = ""
	price, ok := r.prices.Of(usual.String())
	at := slices.IndexFunc(offers, func(o catalog.Offer) bool { return o.Spec == usual })
	if !ok && at >= 0 {
		price, ok = offers[at].Price, true
	}
	if !ok {
		return nil, unlisted, nil
	}
	var there []roles.Offer
	for _, o := range offers {
		if r.prices.Aside(o.Spec.String()) {
			continue
		}
		there = append(there, o.Offer)
	}
	for _, name := range missing {
		best, ok := roles.Suggest(name, roles.Offer{Spec: usual, Price: price}, there)
		if !ok {
			continue
		}
		at := slices.IndexFunc(offers, func(o catalog.Offer) bool { return o.Spec == best.Spec })
		why := "at most half the price of default"
		if name == roles.Slow {
			why = "the next above the price of default"
		}
		all = append(all, suggestionObject{Role: name, Model: best.Spec.String(), Why: why + "; " + offerText(offers[at]), Price: best.Price})
	}
	return all, unlisted, nil
}

// offerText is who offers a model, for people.
func offerText(o catalog.Offer) string {
	if o.Source == "" {
		return "as configured"
	}
	return fmt.Sprintf("listed by %s %s", o.Source, termtext.Ago(time.Now(), o.Asked))
}

// reached tells which models the agent of default can be told.
func (r *roleLister) reached() func(roles.Spec) bool {
	a, err := r.conf.Agent(cmp.Or(r.orders.Table[roles.Default].Kind, r.conf.DefaultAgent, r.single()))
	if err != nil {
		return func(roles.Spec) bool { return false }
	}
	kind, driven := cmdline.Kinds(r.env).ByName()[a.Kind.String()]
	return func(s roles.Spec) bool {
		_, err := kind.Choose(s, r.orders)
		return driven && err == nil
	}
}

// priceText is a price for people, per million tokens.
func priceText(p *roles.Price) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("$%g in, $%g out", p.Input, p.Output)
}

// print shows the roles to a person.
func (o *rolesObject) print(w io.Writer) error {
	t := terminal.Table{Columns: []terminal.Column{{Title: "ROLE"}, {Title: "MODEL"}, {Title: "AGENT"}, {Title: "PRICE PER MTOK"}, {Title: "WHY"}}}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, termtext.Line(fmt.Sprintf(format, args...))) }
	for _, r := range o.Roles {
		why := r.Why
		if r.Configured {
			why += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
		}
		t.Row(r.Name, cmp.Or(r.Model, "-"), cmp.Or(r.Agent, "-"), priceText(r.Price), why)
		if len(r.Fallbacks) > 0 {
			note("%s: falls back on %s", r.Name, strings.Join(r.Fallbacks, ", "))
		}
		if r.Problem != "" {
			note("%s: %s", r.Name, r.Problem)
		}
	}
	for _, s := range o.Suggestions {
		note("suggestion: %s = %q (%s; %s)", s.Role, s.Model, priceText(&s.Price), s.Why)
	}
	if len(o.Unlisted) > 0 {
		note("suggestions name listed models only; the models of %s are not listed yet: `%s models` lists them", strings.Join(o.Unlisted, ", "), cmdline.Program)
	}
	if err := t.Print(w, 0); err != nil || len(notes) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(notes, "\n"))
	return err
}
