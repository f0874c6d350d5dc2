package catalog

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/models"
	"agentswarm/swarm/nearest"
)

// ProvidersRequest names the origins of providers.
type ProvidersRequest struct {
	Machine    *kinds.Machine // required
	Config     *config.Config // required
	Root       string         // state folder of all repositories; empty: none
	Configured []string       // names of configured providers
}

// Providers tells which names of providers are known.
type Providers struct {
	ProvidersRequest
	names []string // built in, and configured
	// here are the providers that agent CLIs on this machine name; nil until they
	// are read.
	here []string
}

// NewProviders returns the built-in providers, the configured ones and those of agent
// CLIs.
func NewProviders(r ProvidersRequest) *Providers {
	return &Providers{ProvidersRequest: r, names: slices.Concat(general(r.Machine.Kinds), r.Configured)}
}

// Configured returns the names of the providers of a configuration, sorted.
func Configured(conf *config.Config) []string {
	return slices.Sorted(maps.Keys(conf.Providers()))
}

// general returns the providers that need no set-up.
func general(all kinds.List) []string {
	names := roles.Providers()
	for _, kind := range all {
		names = append(names, kind.Providers...)
		if kind.Own != nil {
			names = append(names, kind.Own(agent.Login{})...)
		}
	}
	return names
}

// Unknown returns the reason why the provider of a model is not known; "" if it is.
func (r *Providers) Unknown(spec roles.Spec) string {
	if spec.Provider == "" || slices.Contains(r.names, spec.Provider) {
		return ""
	}
	if r.here == nil {
		r.here = append([]string{""}, r.namedHere()...)
	}
	if slices.Contains(r.here, spec.Provider) {
		return ""
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.names, r.here))))
	if near := nearest.Word(spec.Provider, all); near != "" {
		return fmt.Sprintf("model %s: there is no provider %q; did you mean %q?", spec, spec.Provider, near)
	}
	return fmt.Sprintf("model %s: there is no provider %q; declare your own in [providers.%s], or in the configuration of its agent",
		spec, spec.Provider, spec.Provider)
}

// namedHere returns the providers that agent CLIs on this machine name, by their
// set-up and by their last lists.
func (r *Providers) namedHere() (names []string) {
	cache := kept(r.Root)
	for _, f := range r.Machine.Found() {
		names = append(names, namedBy(f, cache)...)
	}
	return names
}

// namedBy returns the providers that an agent CLI names.
func namedBy(f kinds.Found, cache *models.Cache) (names []string) {
	if f.Own != nil {
		names = f.Own(f.Login)
	}
	if f.List == nil || cache == nil {
		return names
	}
	listed, _, _ := cache.Last((&Source{Name: f.Name, cli: &f}).key())
	for _, m := range listed {
		if by, _, ok := strings.Cut(m.Name, "/"); ok {
			names = append(names, by)
		}
	}
	return names
}

// Lacking returns, for each kind with a set-up of its own, the configured providers
// that are not in that set-up. It leaves out providers that a kind knows without a
// set-up, since others may know them too.
func (r *Providers) Lacking() map[string][]string {
	general := general(r.Machine.Kinds)
	configured := slices.DeleteFunc(Configured(r.Config), func(name string) bool { return slices.Contains(general, name) })
	if len(configured) == 0 {
		return nil // no set-up needs to be read
	}
	cache := kept(r.Root)
	lacking := map[string][]string{}
	for _, f := range r.Machine.Found() {
		if f.Own == nil {
			continue
		}
		names := namedBy(f, cache)
		for _, name := range configured {
			if !slices.Contains(names, name) {
				lacking[f.Name] = append(lacking[f.Name], name)
			}
		}
	}
	return lacking
}

// kept returns the last lists; nil without a state folder.
func kept(root string) *models.Cache {
	if root == "" {
		return nil
	}
	return models.OpenCache(filepath.Join(root, folder, listsFile))
}

// Offer is a model with a price that the user can ask for.
type Offer struct {
	roles.Offer
	Source string    // with the list; empty: the model is configured
	Asked  time.Time // of the list
}

// Offers returns the models with a price in the last lists of the sources with a key
// or a login, as far as reached allows. unlisted are those sources without a list. The
// error is that of [Catalog.Sources].
func (k *Catalog) Offers(reached func(roles.Spec) bool) (all []Offer, unlisted []string, err error) {
	sources, err := k.Sources("")
	if err != nil {
		return nil, nil, err
	}
	cache := models.OpenCache(filepath.Join(k.dir, listsFile))
	for _, s := range sources {
		if k.prepare(&s) != nil || s.cli != nil && !s.cli.Ready() {
			continue
		}
		found, asked, known := cache.Last(s.key())
		if !known && s.keyEnv != "" {
			unlisted = append(unlisted, s.Name)
		}
		for _, m := range k.listed(s, found) {
			spec, bad := roles.ParseSpec(m.Model)
			if s.cli != nil && s.cli.Bare {
				spec, bad = roles.Spec{Provider: s.cli.Providers[0], Model: m.Model}, nil
			}
			if bad != nil || m.Price == nil || !reached(spec) || slices.ContainsFunc(all, func(o Offer) bool { return o.Spec == spec }) {
				continue
			}
			offer := Offer{Offer: roles.Offer{Spec: spec, Price: *m.Price}}
			if m.From != FromConfiguration {
				offer.Source, offer.Asked = s.Name, asked
			}
			all = append(all, offer)
		}
	}
	return all, unlisted, nil
}

// Check returns an error for a model whose provider is not known. It ignores a text
// that names no model.
func (r *Providers) Check(specs ...string) error {
	for _, text := range specs {
		spec, err := roles.ParseSpec(text)
		if err != nil {
			continue // its reader reports that
		}
		if reason := r.Unknown(spec); reason != "" {
			return errors.New(reason)
		}
	}
	return nil
}
