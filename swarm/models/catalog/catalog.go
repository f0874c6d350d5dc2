package catalog

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
	"agentswarm/swarm/models"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/provider"
)

// Catalog looks models up at providers and agent CLIs, and keeps their answers.
type Catalog struct {
	machine *kinds.Machine
	more    map[string]provider.Provider // as configured
	prices  *roles.Prices
	own     *roles.Prices // the user's
	windows *roles.Windows
	dir     string // of the kept answers
	now     time.Time
}

// New returns the catalog of a machine with a configuration. Answers are kept below
// root, the state folder of all repositories. The error is that of a table of the
// program.
func New(m *kinds.Machine, conf *config.Config, root string) (*Catalog, error) {
	k := &Catalog{machine: m, more: conf.Providers(), own: (&roles.Prices{}).With(conf.Prices()), now: time.Now()}
	k.dir = filepath.Join(root, folder)
	var err error
	if k.prices, err = roles.Load(); err != nil {
		return nil, err
	}
	k.windows, err = roles.LoadWindows()
	return k, err
}

// listsFile is the file with the kept answers.
const (
	folder    = "models" // below the state folder
	listsFile = "lists.json"
)

// Source is a provider or an agent CLI that lists its models.
type Source struct {
	Name string
	// For a provider, at is its API, and keyEnv the variable with its key.
	at     models.Source
	keyEnv string
	hosted bool // the API needs a key
	facts  map[string]provider.Facts
	// cli is the program of an agent CLI; nil for a provider.
	cli *kinds.Found
}

// URL returns the address of a provider, without parts that may be secret; "" for an
// agent CLI.
func (s *Source) URL() string { return bareURL(s.at.URL) }

// google returns the source of Google. Its lists have an API of their own, which the
// built-in agent does not use.
func (k *Catalog) google() Source {
	keyEnv := "GEMINI_API_KEY"
	if k.machine.Getenv(keyEnv) == "" && k.machine.Getenv("GOOGLE_API_KEY") != "" {
		keyEnv = "GOOGLE_API_KEY"
	}
	base := cmp.Or(k.machine.Getenv("GOOGLE_GEMINI_BASE_URL"), "https://generativelanguage.googleapis.com")
	return Source{Name: "google", at: models.Source{Dialect: models.Gemini, URL: base}, keyEnv: keyEnv, hosted: true}
}

// UnknownError is a name that no source has.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("there is no provider %q", e.Name)
	if near := nearest.Word(e.Name, e.Known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Hint lists the names of the sources.
func (e *UnknownError) Hint() string { return "known: " + strings.Join(e.Known, ", ") }

// Sources returns all sources, or the source of a name. The error is an
// [*UnknownError].
func (k *Catalog) Sources(only string) ([]Source, error) {
	all := []Source{k.google()}
	known := provider.Over(k.machine.Getenv, k.more)
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
		s := Source{
			Name: name, at: models.Source{Dialect: dialect, URL: p.BaseURL}, keyEnv: p.KeyEnv, hosted: provider.Keyed(p.BaseURL), facts: p.Models,
		}
		if name == "google" {
			all[0] = s
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range k.machine.Found() {
		if (f.List != nil || f.Unlisted != "") && (f.Here() || f.Name == only) {
			all = append(all, Source{Name: f.Name, cli: &f})
		}
	}
	if only == "" {
		return all, nil
	}
	var names []string
	for _, s := range all {
		if s.Name == only {
			return []Source{s}, nil
		}
		names = append(names, s.Name)
	}
	return nil, &UnknownError{only, names}
}

// Ask asks sources for their models, all at once, or takes their kept answers. With
// refresh it asks in any case. A source that fails has the reason in its list. The
// error says that the answers cannot be kept.
func (k *Catalog) Ask(ctx context.Context, sources []Source, refresh bool) ([]List, error) {
	cache := models.OpenCache(filepath.Join(k.dir, listsFile))
	all := make([]List, len(sources))
	var mu sync.Mutex // guards cache and news
	news := false
	var asking sync.WaitGroup
	for i, s := range sources {
		asking.Go(func() {
			all[i] = List{Name: s.Name, Kind: FromProvider, URL: s.URL()}
			if s.cli != nil {
				all[i].Kind = FromAgent
			}
			mu.Lock()
			found, asked, known := cache.Get(s.key(), k.now)
			mu.Unlock()
			err := k.prepare(&s)
			if err == nil && (!known || refresh) {
				found, err = k.askOne(ctx, s)
				if asked, known = k.now.UTC().Truncate(time.Second), false; err == nil {
					mu.Lock()
					cache.Put(s.key(), found, k.now)
					news = true
					mu.Unlock()
				}
			}
			var key *noKeyError
			if errors.As(err, &key) && !slices.Contains(mainProviders(), s.Name) && len(sources) > 1 {
				all[i].Unkeyed = key.variable
			}
			if err != nil {
				all[i].Failed, found = strings.ReplaceAll(err.Error(), "\n", "; "), nil
			} else {
				all[i].Asked, all[i].Cached = &asked, known
			}
			all[i].Models = k.listed(s, found)
		})
	}
	asking.Wait()
	if !news {
		return all, nil
	}
	return all, cache.Save()
}

// noKeyError is a provider whose key is not set.
type noKeyError struct{ variable string }

func (e *noKeyError) Error() string { return "no key: set $" + e.variable }

// mainProviders returns the providers whose missing key is reported in a line of its
// own.
func mainProviders() []string { return []string{"anthropic", "google", "openai"} }

// bareURL returns an address without its query and user, which may be secret.
func bareURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// key returns the name of a source in the kept answers.
func (s *Source) key() string {
	if s.cli != nil {
		return "agent " + s.Name + " " + s.cli.Path
	}
	sum := sha256.Sum256([]byte(s.at.URL)) // the URL may hold a secret
	return fmt.Sprintf("provider %s %s %s", s.Name, s.at.Dialect, hex.EncodeToString(sum[:8]))
}

// prepare reads the key of a source. The error is the reason why it cannot be asked.
func (k *Catalog) prepare(s *Source) error {
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
		s.at.Key = k.machine.Getenv(s.keyEnv)
	}
	if s.at.Key == "" && (s.keyEnv != "" || s.hosted) {
		return &noKeyError{cmp.Or(s.keyEnv, "NAME, and key_env = \"NAME\" in [providers."+s.Name+"]")}
	}
	return provider.CheckURL(s.at.URL)
}

func (k *Catalog) askOne(ctx context.Context, s Source) ([]models.Model, error) {
	if s.cli == nil {
		return s.at.Ask(ctx)
	}
	return k.askProgram(ctx, s.cli)
}

// programTime bounds the wait for the list of a program. Some take seconds to start,
// and half a minute on a busy machine.
const programTime = 2 * time.Minute

// mostListed bounds the output of a program that is read, in bytes.
const mostListed = 4 << 20

// askProgram runs an agent CLI to list its models. The program has a state folder and
// a HOME of its own, which are removed afterwards.
func (k *Catalog) askProgram(ctx context.Context, f *kinds.Found) (_ []models.Model, err error) {
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
	said, err := proc.Query(ctx, proc.QueryRequest{Argv: l.Argv, Env: l.Environ(kinds.ProgramEnviron(f, k.machine.Environ)), Dir: dir, Most: mostListed})
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

// asking is the prefix of these folders.
const asking = "asking-"

// sweep removes the folders that a killed process left.
func (k *Catalog) sweep() {
	left, err := os.ReadDir(k.dir)
	if err != nil {
		return
	}
	for _, dir := range left {
		if !strings.HasPrefix(dir.Name(), asking) {
			continue
		}
		if info, err := dir.Info(); err == nil && k.now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(k.dir, dir.Name())) // the next call tries again
		}
	}
}

// listed adds the known facts of models, and the models that are configured.
func (k *Catalog) listed(s Source, found []models.Model) []Model {
	from := FromProvider
	if s.cli != nil {
		from = FromAgent
	}
	all := []Model{}
	for _, m := range found {
		all = append(all, k.known(s, m, from))
	}
	for _, name := range slices.Sorted(maps.Keys(s.facts)) {
		if models.Named(name) && !slices.ContainsFunc(found, func(m models.Model) bool { return m.Name == name }) {
			all = append(all, k.known(s, models.Model{Name: name}, FromConfiguration))
		}
	}
	return all
}

// known returns the facts of a model: those of the user, else of its provider, else of
// the tables.
func (k *Catalog) known(s Source, m models.Model, from string) Model {
	l := Model{Model: m.Name, From: from}
	facts := s.facts[m.Name]
	if s.cli == nil {
		l.Model = s.Name + "/" + m.Name
	} else if by, name, ok := strings.Cut(m.Name, "/"); ok {
		facts = k.more[by].Models[name]
	}
	window, day, _ := k.windows.Of(m.Name)
	switch {
	case facts.ContextWindow > 0 || facts.MaxOutput > 0:
		l.WindowOf = FromConfiguration
	case m.Window.Context > 0:
		l.WindowOf = from
	case window.Context > 0:
		l.WindowOf, l.WindowDay = FromTable, day
	}
	l.Context = cmp.Or(facts.ContextWindow, m.Window.Context, window.Context)
	l.Output = cmp.Or(facts.MaxOutput, m.Window.Output, window.Output)
	if price, ok := k.own.Of(l.Model); ok {
		l.Price, l.PriceOf = &price, FromConfiguration
	} else if price, ok := k.own.Of(m.Name); ok {
		l.Price, l.PriceOf = &price, FromConfiguration
	} else if m.Price != nil {
		l.Price, l.PriceOf = m.Price, from
	} else if price, day, ok := k.priced(s, m.Name); ok {
		l.Price, l.PriceOf, l.PriceDay = &price, FromTable, day
	}
	return l
}

// priced returns the price of the table. It holds for the provider of the model only:
// a reseller has other prices.
func (k *Catalog) priced(s Source, name string) (roles.Price, string, bool) {
	if s.cli != nil {
		return k.prices.Priced(name)
	}
	by := strings.TrimSuffix(s.Name, "-chat")
	return k.prices.Priced(by + "/" + name)
}
