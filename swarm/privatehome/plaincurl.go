package privatehome

import (
	"bytes"
	"slices"
	"strings"
)

// plainCurl keeps proxies and plain options of curl (curl.se/docs/manpage.html).
func plainCurl(text []byte) []byte {
	return plainOptions(text, "=: \t", " ", words(`proxy noproxy cacert capath insecure location silent show-error fail compressed connect-timeout
		max-time retry retry-delay retry-connrefused ipv4 ipv6 http1.1 http2 remote-time progress-bar no-progress-meter
		user-agent tlsv1.2 ssl-no-revoke proxy-cacert -k -L -s -S -f -4 -6 -x`))
}

// plainWget keeps proxies and plain settings of wget.
func plainWget(text []byte) []byte {
	return plainOptions(text, "=", " = ", words(`use_proxy http_proxy https_proxy ftp_proxy no_proxy check_certificate ca_certificate
		ca_directory timeout connect_timeout read_timeout dns_timeout tries wait retry_connrefused inet4_only inet6_only
		continue timestamping progress quiet verbose show_progress secure_protocol hsts`))
}

// plainYarnrc keeps the registry and plain settings of Yarn 1
// (classic.yarnpkg.com/docs/yarnrc).
func plainYarnrc(text []byte) []byte {
	return plainOptions(text, " ", " ", words(`registry cache-folder yarn-offline-mirror yarn-offline-mirror-pruning proxy https-proxy no-proxy
		strict-ssl cafile network-timeout network-concurrency child-concurrency save-prefix version-git-tag version-tag-prefix
		disable-self-update-check enable-telemetry lastUpdateCheck ignore-scripts ignore-engines workspaces-experimental
		--install.frozen-lockfile --install.ignore-optional --add.exact --install.ignore-scripts`))
}

// plainOptions keeps the options of some names, alone or with a plain value:
// one a line. It writes the value behind a separator.
func plainOptions(text []byte, separators, separator string, names []string) []byte {
	var kept bytes.Buffer
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, value := line, ""
		if i := strings.IndexAny(line, separators); i >= 0 {
			name, value = strings.TrimSpace(line[:i]), strings.Trim(line[i:], separators+" \t")
		}
		name = unquoted(name)
		if !slices.Contains(names, name) && !slices.Contains(names, strings.TrimPrefix(name, "--")) {
			continue
		}
		switch value = unquoted(value); {
		case value == "":
			kept.WriteString(name + "\n")
		case plainValue(value) && plainText(value) && !strings.ContainsAny(value, "#\r\n") && strings.Trim(value, separators+" \t") == value:
			kept.WriteString(name + separator + value + "\n")
		}
	}
	return kept.Bytes()
}
