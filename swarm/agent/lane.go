package agent

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"agentswarm/roles"
)

// Lane returns the group of agents with which the agent shares limits: its
// provider and its model. It derives them from the spec, the kind and the
// login; empty for none. Kinds have different names for the same model, and
// Lane unifies them.
func (k Kind) Lane(spec *Spec, in Surroundings) string {
	if spec.Lane != "" || spec.Kind == KindCommand {
		return spec.Lane
	}
	model := spec.Model
	if spec.Kind == KindBuiltin && in.Getenv != nil {
		model = cmp.Or(model, in.Getenv(BuiltinModel))
	}
	named, err := roles.ParseSpec(model)
	switch {
	case err != nil && model != "":
		return spec.Kind + "/" + model
	case named.Provider != "" && k.Bare && !slices.Contains(k.Providers, named.Provider):
		// It is told the name of a model, whatever stands in it.
		named.Provider, named.Model = "", named.Provider+"/"+named.Model
	}
	if named.Provider == "" || k.Bare {
		named.Provider = cmp.Or(k.asks(in), named.Provider, spec.Kind)
	}
	provider := canonical(named.Provider)
	if provider == "anthropic" {
		named.Model = class(named.Model)
	}
	return strings.TrimSuffix(provider+"/"+named.Model, "/")
}

// BuiltinModel is the variable that names the model of built-in agents which
// are told none.
const BuiltinModel = "SWARM_BUILTIN_MODEL"

// asks returns the provider of the kind's agents for a model that is a plain
// name; empty for an unknown provider.
func (k Kind) asks(in Surroundings) string {
	if k.Login != nil && in.Getenv != nil && in.Read != nil {
		if provider := k.Login(in).Provider; provider != "" {
			return provider
		}
	}
	if k.Bare && len(k.Providers) > 0 {
		return k.Providers[0]
	}
	return ""
}

// canonical maps the aliases of a provider to a single name.
func canonical(provider string) string {
	switch provider {
	case "openai-chat":
		return "openai"
	case "gemini":
		return "google"
	case "dashscope", "alibaba":
		return "qwen"
	}
	return provider
}

// class returns the class of an Anthropic model. Models of a class share their
// limits, and an alias names only the class.
func class(model string) string {
	for _, word := range strings.FieldsFunc(model, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "opus", "sonnet", "haiku":
			return word
		}
	}
	return model
}
