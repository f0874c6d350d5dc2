package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/models"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/store"
)

// catalogue is what models are looked up in, and where answers are kept.
type catalogue struct {
	env     Env
	more    map[string]provider.Provider // as configured
	prices  *roles.Prices
	own     *roles.Prices // the user's alone
	windows *roles.Windows
	dir     string // of what is kept
	now     time.Time
}

func newCatalogue(env Env, conf *config.Config) (*catalogue, error) {
	k := &catalogue{env: env, more: conf.Providers(), own: (&roles.Prices{}).With(conf.Prices()), now: time.Now()}
	root, err := store.Root(env.Getenv)
	if err != nil {
		return nil, refused(err)
	}
	k.dir = filepath.Join(root, "models")
	if k.prices, err = roles.Load(); err != nil {
		return nil, err
	}
	k.windows, err = roles.LoadWindows()
	return k, err
}

// listsFile is where answers are kept.
const listsFile = "lists.json"

// modelSource is somebody who can be asked which models there are.
type modelSource struct {
	name string
	// Of a provider it is how it is asked, and what its key is in.
	at     models.Source
	keyEnv string
	hosted bool // nobody is answered there without a key
	facts  map[string]provider.Facts
	// cli is set of an agent CLI.
	cli *kinds.Found
}

// google is asked for its list by an API of its own, which the built-in agent
// does not speak.
func (k *catalogue) google() modelSource {
	keyEnv := "GEMINI_API_KEY"
	if k.env.Getenv(keyEnv) == "" && k.env.Getenv("GOOGLE_API_KEY") != "" {
		keyEnv = "GOOGLE_API_KEY"
	}
	base := cmp.Or(k.env.Getenv("GOOGLE_GEMINI_BASE_URL"), "https://generativelanguage.googleapis.com")
	return modelSource{name: "google", at: models.Source{Dialect: models.Gemini, URL: base}, keyEnv: keyEnv, hosted: true}
}

// sources are those that are asked: all, or the one of a name.
func (k *catalogue) sources(only string) ([]modelSource, error) {
	all := []modelSource{k.google()}
	known := provider.Over(k.env.Getenv, k.more)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		p := known[name]
		dialect := models.OpenAI
		switch {
		case p.API == provider.Anthropic:
			dialect = models.Anthropic
		case name == "ollama":
			dialect = models.Ollama
		}
		_, configured := k.more[name]
		if openai := known["openai"]; name == "openai-chat" && only != name && !configured && p.BaseURL == openai.BaseURL {
			continue // the same models by another API
		}
		s := modelSource{
			name: name, at: models.Source{Dialect: dialect, URL: p.BaseURL}, keyEnv: p.KeyEnv, hosted: provider.Keyed(p.BaseURL), facts: p.Models,
		}
		if name == "google" {
			all[0] = s
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b modelSource) int { return strings.Compare(a.name, b.name) })
	for _, f := range k.env.found() {
		if (f.List != nil || f.Unlisted != "") && (f.Here() || f.Name == only) {
			all = append(all, modelSource{name: f.Name, cli: &f})
		}
	}
	if only == "" {
		return all, nil
	}
	var names []string
	for _, s := range all {
		if s.name == only {
			return []modelSource{s}, nil
		}
		names = append(names, s.name)
	}
	u := &UsageError{Text: fmt.Sprintf("models: there is no provider %q", only), Advice: "there are " + strings.Join(names, ", ")}
	if near := nearest(only, names); near != "" {
		u.Text += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, u
}

// ask asks them all at once. What one cannot say keeps no other from it.
func (k *catalogue) ask(ctx context.Context, sources []modelSource, refresh bool) []listedProvider {
	cache := models.OpenCache(filepath.Join(k.dir, listsFile))
	all := make([]listedProvider, len(sources))
	var mu sync.Mutex // guards cache and news
	news := false
	var asking sync.WaitGroup
	for i, s := range sources {
		asking.Go(func() {
			all[i] = listedProvider{Name: s.name, Kind: fromProvider, URL: bareURL(s.at.URL)}
			if s.cli != nil {
				all[i].Kind = fromAgent
			}
			mu.Lock()
			found, asked, known := cache.Get(s.who(), k.now)
			mu.Unlock()
			err := k.askable(&s)
			if err == nil && (!known || refresh) {
				found, err = k.askOne(ctx, s)
				if asked, known = k.now.UTC().Truncate(time.Second), false; err == nil {
					mu.Lock()
					cache.Put(s.who(), found, k.now)
					news = true
					mu.Unlock()
				}
			}
			var key *noKeyError
			if errors.As(err, &key) && !slices.Contains(mainProviders(), s.name) && len(sources) > 1 {
				all[i].unkeyed = key.variable
			}
			if err != nil {
				all[i].Failed, found = oneLine(err), nil
			} else {
				all[i].Asked, all[i].Cached = &asked, known
			}
			all[i].Models = k.listed(s, found)
		})
	}
	asking.Wait()
	if news {
		// What cannot be kept is asked for again.
		if err := cache.Save(); err != nil {
			fmt.Fprintln(k.env.Stderr, program+": "+Printable(oneLine(err)))
		}
	}
	return all
}

// noKeyError is a provider that cannot be asked without a key.
type noKeyError struct{ variable string }

func (e *noKeyError) Error() string { return "no key: set $" + e.variable }

// mainProviders are those whose missing key is told on a line of its own.
func mainProviders() []string { return []string{"anthropic", "google", "openai"} }

// bareURL is an address without what may be secret in it.
func bareURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// who names a source in what is kept.
func (s *modelSource) who() string {
	if s.cli != nil {
		return "agent " + s.name + " " + s.cli.Path
	}
	sum := sha256.Sum256([]byte(s.at.URL)) // which may hold more than a host
	return fmt.Sprintf("provider %s %s %s", s.name, s.at.Dialect, hex.EncodeToString(sum[:8]))
}

// askable takes the key of a source, and says why it cannot be asked.
func (k *catalogue) askable(s *modelSource) error {
	if s.cli != nil {
		if !s.cli.Here() {
			return fmt.Errorf("it is not installed: %s", s.cli.Install)
		}
		if s.cli.List == nil {
			return errors.New(s.cli.Unlisted)
		}
		return nil
	}
	if s.keyEnv != "" {
		s.at.Key = k.env.Getenv(s.keyEnv)
	}
	if s.at.Key == "" && (s.keyEnv != "" || s.hosted) {
		return &noKeyError{cmp.Or(s.keyEnv, "NAME, and key_env = \"NAME\" in [providers."+s.name+"]")}
	}
	return provider.CheckURL(s.at.URL)
}

func (k *catalogue) askOne(ctx context.Context, s modelSource) ([]models.Model, error) {
	if s.cli == nil {
		return s.at.Ask(ctx)
	}
	return k.askProgram(ctx, s.cli)
}

// programTime is how long a program may take to list its models. Some of them
// take seconds to start, and on a busy machine half a minute.
const programTime = 2 * time.Minute

// mostListed is how much of what a program says is read, in bytes.
const mostListed = 4 << 20

// askProgram has an agent CLI list its models, in a state folder and a HOME of
// its own, which are removed again.
func (k *catalogue) askProgram(ctx context.Context, f *kinds.Found) (_ []models.Model, err error) {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a state folder: %w", err)
	}
	k.sweep()
	dir, err := os.MkdirTemp(k.dir, asking)
	if err != nil {
		return nil, fmt.Errorf("make a state folder: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil {
			err = gone
		}
	}()
	spec := f.Spec
	spec.Command = []string{f.Path}
	l, err := f.List.Launch(agent.Request{Spec: &spec, State: dir, Login: f.Login})
	if err != nil {
		return nil, err
	}
	l.Env = append(l.Env, "HOME="+dir, "TMPDIR="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	if err := l.Write(dir); err != nil {
		return nil, err
	}
	said, err := proc.Query(ctx, proc.QueryRequest{Argv: l.Argv, Env: l.Environ(programEnviron(f, k.env.Environ)), Dir: dir, Most: mostListed})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it does not list its models within %s", programTime)
	case err != nil:
		return nil, fmt.Errorf("it does not list its models: %s ends with an error", filepath.Base(f.Path))
	}
	var all []models.Model
	for _, m := range f.List.Read(said) {
		all = append(all, models.Model{Name: m.Name, Window: m.Window, Price: m.Price})
	}
	return models.Tidy(all), nil
}

// programEnviron is what of an environment the program of a kind gets: what its
// agents get too.
func programEnviron(f *kinds.Found, all []string) []string {
	passed, _ := environ.Rules{Needs: f.Login.Env, Settings: f.Kind.Variables}.Select(all)
	return passed
}

// asking is what folders begin with that programs are asked in.
const asking = "asking-"

// sweep removes folders that a swarm has left which was killed meanwhile.
func (k *catalogue) sweep() {
	left, err := os.ReadDir(k.dir)
	if err != nil {
		return
	}
	for _, dir := range left {
		if !strings.HasPrefix(dir.Name(), asking) {
			continue
		}
		if info, err := dir.Info(); err == nil && k.now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(k.dir, dir.Name())) // else the next one does
		}
	}
}

// listed adds what is known of models, and those that are configured.
func (k *catalogue) listed(s modelSource, found []models.Model) []listedModel {
	from := fromProvider
	if s.cli != nil {
		from = fromAgent
	}
	all := []listedModel{}
	for _, m := range found {
		all = append(all, k.known(s, m, from))
	}
	for _, name := range slices.Sorted(maps.Keys(s.facts)) {
		if models.Named(name) && !slices.ContainsFunc(found, func(m models.Model) bool { return m.Name == name }) {
			all = append(all, k.known(s, models.Model{Name: name}, fromConfiguration))
		}
	}
	return all
}

// known is what is known of a model: what the user says, else its provider, else
// the tables.
func (k *catalogue) known(s modelSource, m models.Model, from string) listedModel {
	l := listedModel{Model: m.Name, From: from}
	facts := s.facts[m.Name]
	if s.cli == nil {
		l.Model = s.name + "/" + m.Name
	} else if by, name, ok := strings.Cut(m.Name, "/"); ok {
		facts = k.more[by].Models[name]
	}
	window, day, _ := k.windows.Of(m.Name)
	switch {
	case facts.ContextWindow > 0 || facts.MaxOutput > 0:
		l.WindowOf = fromConfiguration
	case m.Window.Context > 0:
		l.WindowOf = from
	case window.Context > 0:
		l.WindowOf, l.WindowDay = fromTable, day
	}
	l.Context = cmp.Or(facts.ContextWindow, m.Window.Context, window.Context)
	l.Output = cmp.Or(facts.MaxOutput, m.Window.Output, window.Output)
	if price, ok := k.own.Of(l.Model); ok {
		l.Price, l.PriceOf = &price, fromConfiguration
	} else if price, ok := k.own.Of(m.Name); ok {
		l.Price, l.PriceOf = &price, fromConfiguration
	} else if m.Price != nil {
		l.Price, l.PriceOf = m.Price, from
	} else if price, day, ok := k.priced(s, m.Name); ok {
		l.Price, l.PriceOf, l.PriceDay = &price, fromTable, day
	}
	return l
}

// priced is the price of the table. It holds where the provider itself is asked:
// who sells the models of others asks prices of their own.
func (k *catalogue) priced(s modelSource, name string) (roles.Price, string, bool) {
	if s.cli != nil {
		return k.prices.Priced(name)
	}
	by := strings.TrimSuffix(s.name, "-chat")
	return k.prices.Priced(by + "/" + name)
}
