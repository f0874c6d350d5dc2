package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/models"
)

// reach knows the providers that there are.
type reach struct {
	env   Env
	conf  *config.Config
	names []string // that are known by themselves, and as configured
	// here are those that agent CLIs on this machine name; nil before anybody
	// asked, since it takes reading.
	here []string
}

// newReach knows the providers of everybody, of the configuration and of kinds.
func newReach(env Env, conf *config.Config, o *roles.Orders) *reach {
	return &reach{env: env, conf: conf, names: slices.Concat(env.general(), o.Providers)}
}

// general are the providers that need no set-up to be known to somebody.
func (env Env) general() []string {
	names := roles.Providers()
	for _, kind := range env.kinds() {
		names = append(names, kind.Providers...)
		if kind.Own != nil {
			names = append(names, kind.Own(agent.Login{})...)
		}
	}
	return names
}

// unknown says what is wrong with the provider of a model; empty where there is
// one of that name.
func (r *reach) unknown(spec roles.Spec) string {
	if spec.Provider == "" || slices.Contains(r.names, spec.Provider) {
		return ""
	}
	if r.here == nil {
		r.here = append([]string{""}, r.env.namedHere(r.conf)...)
	}
	if slices.Contains(r.here, spec.Provider) {
		return ""
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.names, r.here))))
	if near := nearest(spec.Provider, all); near != "" {
		return fmt.Sprintf("model %s: there is no provider %q; did you mean %q?", spec, spec.Provider, near)
	}
	return fmt.Sprintf("model %s: there is no provider %q; one of your own is declared in [providers.%s], or in the set-up of its agent",
		spec, spec.Provider, spec.Provider)
}

// namedHere are the providers that agent CLIs on this machine name: by how they
// are set up, and in what they listed last.
func (env Env) namedHere(conf *config.Config) (names []string) {
	cache := env.lists(conf)
	for _, f := range env.found() {
		names = append(names, namedBy(f, cache)...)
	}
	return names
}

// namedBy are the providers that one agent CLI names.
func namedBy(f kinds.Found, cache *models.Cache) (names []string) {
	if f.Own != nil {
		names = f.Own(f.Login)
	}
	if f.List == nil || cache == nil {
		return names
	}
	listed, _, _ := cache.Last((&modelSource{name: f.Name, cli: &f}).who())
	for _, m := range listed {
		if by, _, ok := strings.Cut(m.Name, "/"); ok {
			names = append(names, by)
		}
	}
	return names
}

// lacking are, by the names of kinds that are set up with providers of their
// own, those that are configured for swarm and not there. One that some program
// knows by itself may be known to others.
func (env Env) lacking(conf *config.Config) map[string][]string {
	general := env.general()
	configured := slices.DeleteFunc(ownProviders(conf), func(name string) bool { return slices.Contains(general, name) })
	if len(configured) == 0 {
		return nil // nothing is to be read for it
	}
	cache := env.lists(conf)
	lacking := map[string][]string{}
	for _, f := range env.found() {
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

// lists are the models that were listed last; nil where they cannot be had.
func (env Env) lists(conf *config.Config) *models.Cache {
	k, err := newCatalogue(env, conf)
	if err != nil {
		return nil
	}
	return models.OpenCache(filepath.Join(k.dir, listsFile))
}

// offered is a model that somebody listed whom this user can ask.
type offered struct {
	roles.Offer
	by string // who, and when
}

// offers are the models with a price that were listed last by those with a key
// or a login, as far as they are reached. unlisted are those of them that nobody
// has asked yet.
func (k *catalogue) offers(reached func(roles.Spec) bool) (all []offered, unlisted []string, err error) {
	sources, err := k.sources("")
	if err != nil {
		return nil, nil, err
	}
	cache := models.OpenCache(filepath.Join(k.dir, listsFile))
	for _, s := range sources {
		if k.askable(&s) != nil || s.cli != nil && !s.cli.Ready() {
			continue
		}
		found, asked, known := cache.Last(s.who())
		if !known && s.keyEnv != "" {
			unlisted = append(unlisted, s.name)
		}
		for _, m := range k.listed(s, found) {
			spec, bad := roles.ParseSpec(m.Model)
			if s.cli != nil && s.cli.Bare {
				spec, bad = roles.Spec{Provider: s.cli.Providers[0], Model: m.Model}, nil
			}
			if bad != nil || m.Price == nil || !reached(spec) || slices.ContainsFunc(all, func(o offered) bool { return o.Spec == spec }) {
				continue
			}
			by := "as configured"
			if m.From != fromConfiguration {
				by = fmt.Sprintf("listed by %s %s", s.name, Ago(time.Now(), asked))
			}
			all = append(all, offered{roles.Offer{Spec: spec, Price: *m.Price}, by})
		}
	}
	return all, unlisted, nil
}

// call refuses models that are of providers that there are not.
func (r *reach) call(specs ...string) error {
	for _, text := range specs {
		spec, err := roles.ParseSpec(text)
		if err != nil {
			continue // told by whoever reads it
		}
		if reason := r.unknown(spec); reason != "" {
			return errors.New(reason)
		}
	}
	return nil
}
