package git

import "testing"

// TestStoreFile reads the values of credential.helper.
func TestStoreFile(t *testing.T) {
	t.Parallel()
	for helper, want := range map[string]string{
		"": "", "store": "", "cache --timeout=3600": "", "osxkeychain": "", "!f() { echo password=x; }; f": "",
		"store --file=/srv/pass":                                  "/srv/pass",
		"store --file /srv/pass":                                  "/srv/pass",
		"store --file='/srv/my pass'":                             "/srv/my pass",
		"store --file=~/.pass":                                    "/home/ada/.pass",
		"store --file ~/.pass":                                    "/home/ada/.pass",
		"store --file=$HOME/.pass":                                "/home/ada/.pass",
		"store --file":                                            "",
		"!git credential-store --file=/srv/pass":                  "/srv/pass",
		"/usr/lib/git-core/git-credential-store --file=/srv/pass": "/srv/pass",
		"store --file=$(cat name)":                                "",
	} {
		if got := storeFile(helper, "/home/ada"); got != want {
			t.Errorf("%q stores in %q, want %q", helper, got, want)
		}
	}
}
