package privatehome

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// plainYAML keeps some keys of a YAML file, with their values that are plain: texts,
// lists of texts, and maps of both.
func plainYAML(text []byte, keys []string) []byte {
	var all map[string]any
	if yaml.Unmarshal(text, &all) != nil {
		return nil
	}
	kept := map[string]any{}
	for key, value := range all {
		if left := plainYAMLValue(value, 0); left != nil && slices.Contains(keys, key) {
			kept[key] = left
		}
	}
	if len(kept) == 0 {
		return nil
	}
	out, err := yaml.Marshal(kept)
	if err != nil {
		return nil
	}
	return out
}

// maxYAMLDepth bounds how deep lists and maps of a kept value are.
const maxYAMLDepth = 5

func plainYAMLValue(value any, depth int) any {
	if depth > maxYAMLDepth {
		return nil
	}
	switch value := value.(type) {
	case bool, int:
		return value
	case string:
		// Conda has tokens in paths, as in https://HOST/t/TOKEN/CHANNEL.
		if value != "" && plainValue(value) && plainText(value) && !strings.Contains(value, "/t/") {
			return value
		}
	case []any:
		var list []any
		for _, item := range value {
			if left := plainYAMLValue(item, depth+1); left != nil {
				list = append(list, left)
			}
		}
		if len(list) > 0 {
			return list
		}
	case map[string]any:
		kept := map[string]any{}
		for key, item := range value {
			if left := plainYAMLValue(item, depth+1); left != nil && plainValue(key) && !namesSecret(key) {
				kept[key] = left
			}
		}
		if len(kept) > 0 {
			return kept
		}
	}
	return nil
}

// plainConda keeps channels and plain settings of conda
// (docs.conda.io/projects/conda/en/stable/configuration.html).
func plainConda(text []byte) []byte {
	return plainYAML(text, words(`channels default_channels channel_alias custom_channels custom_multichannels migrated_channel_aliases
		channel_priority ssl_verify proxy_servers auto_activate_base auto_activate envs_dirs pkgs_dirs show_channel_urls always_yes
		offline solver changeps1 auto_update_conda pip_interop_enabled create_default_packages use_only_tar_bz2 report_errors
		notify_outdated_conda remote_read_timeout_secs remote_connect_timeout_secs remote_max_retries repodata_threads safety_checks`))
}

// plainGem keeps sources and plain settings of RubyGems.
func plainGem(text []byte) []byte {
	return plainYAML(text, words(`:sources :backtrace :benchmark :bulk_threshold :verbose :update_sources :concurrent_downloads
		:ssl_verify_mode :ssl_ca_cert :ipv4_fallback_enabled gem install update`))
}
