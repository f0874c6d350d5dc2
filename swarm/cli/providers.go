package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/roles"
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
	r := &reach{env: env, conf: conf, names: slices.Concat(roles.Providers(), o.Providers)}
	for _, kind := range env.kinds() {
		r.names = append(r.names, kind.Providers...)
	}
	return r
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
	var cache *models.Cache
	if k, err := newCatalogue(env, conf); err == nil {
		cache = models.OpenCache(filepath.Join(k.dir, listsFile))
	}
	for _, f := range env.found() {
		if f.Own != nil {
			names = append(names, f.Own(f.Login)...)
		}
		if f.List == nil || cache == nil {
			continue
		}
		listed, _, _ := cache.Last((&modelSource{name: f.Name, cli: &f}).who())
		for _, m := range listed {
			if by, _, ok := strings.Cut(m.Name, "/"); ok {
				names = append(names, by)
			}
		}
	}
	return names
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
