package wire

import "testing"

func TestOfModel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"404 Not Found: model \"m\" not found, try pulling it first":                  true,
		"The model `gpt-9` does not exist or you do not have access to it.":           true,
		"not_found_error: model: claude-9":                                            true,
		"models/gemini-9 is not found for API version v1beta":                         true,
		"m/x is not a valid model ID":                                                 true,
		"No endpoints found for m/x.":                                                 true,
		"Model Not Exist":                                                             true,
		"ProviderModelNotFoundError":                                                  true,
		"The 'x' model is not supported when using this account.":                     true,
		"'response_format' of type 'json_schema' is not supported with this model":    true,
		"This model's maximum context length is 8192 tokens":                          true,
		"prompt is too long: 210000 tokens > 200000 maximum":                          true,
		"the task is longer than what the model takes":                                true,
		"effort: the model m cannot think at \"max\"; the nearest it can is \"high\"": true,
		"no":                                     false,
		"Invalid schema for response_format 'x'": false,
		"thread not found: 12":                   false,
		"400 Bad Request: messages.0: content is empty":                                      false,
		"the endpoint answers with text/html, which is no stream of a model: is its address": false,
		"": false,
	} {
		if got := OfModel(text); got != want {
			t.Errorf("OfModel(%q) = %t, want %t", text, got, want)
		}
	}
}
