package privatehome

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plainCases are configurations with what is kept of them.
func plainCases() []struct{ name, give, want string } {
	return []struct{ name, give, want string }{
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g -Dfile.encoding=UTF-8\norg.gradle.caching : true\n", "org.gradle.jvmargs=-Xmx2g -Dfile.encoding=UTF-8\norg.gradle.caching=true\n"},
		{".gradle/gradle.properties", "systemProp.https.proxyHost=p.example.org\nsystemProp.https.proxyPassword=the-secret\nsystemProp.http.nonProxyHosts=localhost|*.example.org\n",
			"systemProp.https.proxyHost=p.example.org\nsystemProp.http.nonProxyHosts=localhost|*.example.org\n"},
		{".gradle/gradle.properties", "nexusUser=the-secret\nnexusPassword=the-secret\nsigning.keyId=the-secret\nproxyHost=the-secret\n", ""},
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Dhttps.proxyPassword=the-secret\nandroid.injected.signing.store.password=the-secret\n", ""},
		{".gradle/gradle.properties", "pw=the-secret\\\norg.gradle.x=the-secret\norg.gradle.y=\\\n  the-secret\n", ""},

		{".config/pip/pip.conf", "[global]\nindex_url = https://m.example.org/simple\ntrusted-host: m.example.org\n[install]\nuser=true\n",
			"[global]\nindex-url = https://m.example.org/simple\ntrusted-host = m.example.org\n[install]\nuser = true\n"},
		{".pip/pip.conf", "[global]\nextra-index-url =\n    https://u:the-secret@a.example.org/\n    # https://x.example.org\n    https://b.example.org/ https://c.example.org/\n",
			"[global]\nextra-index-url = https://b.example.org/\n    https://c.example.org/\n"},
		{".pip/pip.conf", "[global]\nindex-url = https://the-secret@m.example.org/\n  the-secret@\npassword = the-secret\n  the-secret\n[the-secret!]\n", "[global]\n"},

		{".bundle/config", "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://m.example.org\"\nBUNDLE_JOBS: 4\nBUNDLE_GEMS__EXAMPLE__ORG: \"u:the-secret\"\n",
			"BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://m.example.org\"\nBUNDLE_JOBS: \"4\"\n"},
		{".bundle/config", "BUNDLE_MIRROR__HTTPS://U:the-secret@R/: \"https://m.example.org\"\nBUNDLE_MIRROR__ALL: \"https://u:the-secret@m.example.org\"\n", ""},

		{".yarnrc.yml", "nodeLinker: node-modules\nnpmRegistryServer: 'https://m.example.org'\nnpmAuthToken: the-secret\nnpmScopes:\n  a:\n    npmAuthToken: the-secret\n  npmRegistryServer: the-secret\n",
			"nodeLinker: \"node-modules\"\nnpmRegistryServer: \"https://m.example.org\"\n"},
		{".yarnrc.yml", "httpsProxy: \"http://u:the-secret@p.example.org\"\nhttpProxy: ${the-secret}\n", ""},

		{".m2/settings.xml", "<settings xmlns='http://maven.apache.org/SETTINGS/1.0.0'><mirrors><!-- the-secret --><mirror><id>m</id><name>it's ours</name><mirrorOf>external:*,!r</mirrorOf>" +
			"<url>https://m.example.org/</url></mirror><mirror><id>n</id><url>https://u:the-secret@m.example.org/</url></mirror></mirrors></settings>",
			"<settings><mirrors><mirror><id>m</id><mirrorOf>external:*,!r</mirrorOf><url>https://m.example.org/</url></mirror></mirrors></settings>\n"},
		{".m2/settings.xml", "<settings><servers><server><id>m</id><password>the-secret</password></server></servers><offline>true</offline></settings>", "<settings><offline>true</offline></settings>\n"},
		{".m2/settings.xml", "<settings><proxies><proxy><host>p</host><port>80</port><username>the-secret</username><password>the-secret</password></proxy></proxies></settings>",
			"<settings><proxies><proxy><host>p</host><port>80</port></proxy></proxies></settings>\n"},
		{".m2/settings.xml", "<settings><profiles><profile><id>p</id><properties><k>the-secret</k></properties><repositories><repository><id>r</id><url>https://r/</url></repository></repositories></profile></profiles></settings>",
			"<settings><profiles><profile><id>p</id><repositories><repository><id>r</id><url>https://r/</url></repository></repositories></profile></profiles></settings>\n"},
		{".m2/settings.xml", "the-secret", "<settings></settings>\n"},
		{".m2/settings.xml", "<settings><mirrors><mirror><url>the-secret", "<settings></settings>\n"},
		{".m2/settings.xml", "<other><offline>the-secret</offline></other>", "<settings></settings>\n"},

		{".nuget/NuGet/NuGet.Config", "<configuration><packageSources><clear /><add key=\"m\" value=\"https://m.example.org/v3/index.json\" protocolVersion=\"3\" password=\"the-secret\"/>" +
			"<add key=\"n\" value=\"https://u:the-secret@m.example.org/\"/></packageSources><apikeys><add key=\"k\" value=\"the-secret\"/></apikeys></configuration>",
			"<configuration><packageSources><clear></clear><add key=\"m\" value=\"https://m.example.org/v3/index.json\" protocolVersion=\"3\"></add></packageSources></configuration>\n"},
	}
}

func TestPlainForms(t *testing.T) {
	t.Parallel()
	for _, tc := range plainCases() {
		form := plainForms()[tc.name]
		got := string(form([]byte(tc.give)))
		if got != tc.want || strings.Contains(got, secret) {
			t.Errorf("%s: %q\nbecomes %q\nwant    %q", tc.name, tc.give, got, tc.want)
		}
		if again := string(form([]byte(got))); again != got {
			t.Errorf("%s: %q becomes %q", tc.name, got, again)
		}
	}
}

// FuzzPlainForms: no form keeps an address with a user, and filtering again changes
// nothing.
func FuzzPlainForms(f *testing.F) {
	for _, tc := range plainCases() {
		f.Add(tc.give)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range PlainNames() {
			form := plainForms()[name]
			kept := string(form([]byte(text)))
			if again := string(form([]byte(kept))); again != kept {
				t.Errorf("%s: %q becomes %q and then %q", name, text, kept, again)
			}
			if name != ".npmrc" && name != ".config/pnpm/rc" && strings.ContainsAny(kept, "@$") { // there a scope has an @
				t.Errorf("%s: %q keeps %q", name, text, kept)
			}
		}
	})
}

// TestWritePlain: links and large files are left out.
func TestWritePlain(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".npmrc", "fund=false\n_auth="+secret+"\n")
	u.write(".gradle/gradle.properties", strings.Repeat("#", maxFile+1))
	u.write("elsewhere/settings.xml", "<settings/>")
	u.must(os.Symlink(u.path("home/elsewhere"), u.path("home/.m2")), os.Mkdir(u.path("home/.pip"), 0o700), os.Mkdir(u.path("home/.pip/pip.conf"), 0o700))
	dir := u.path("plain")
	u.must(WritePlain(u.path("home"), dir))
	if got := PlainFiles(dir); !slices.Equal(got, []string{".npmrc"}) {
		t.Errorf("the files are %q", got)
	}
	u.has(dir, ".npmrc", "fund=false\n")
	if all := PlainFiles(""); all != nil {
		t.Errorf("without a folder they are %q", all)
	}
	home := u.build(u.prepare(PlainNames()...))
	for _, name := range []string{".gradle/gradle.properties", ".m2/settings.xml", ".pip/pip.conf"} {
		if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
			t.Errorf("~/%s is in a private HOME", name)
		}
	}
}

// TestUnseen: of a file that the user hides no copy is shown.
func TestUnseen(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".npmrc", "fund=false\n")
	u.write(".pip/pip.conf", "[global]\n")
	all := []string{u.path("home/.npmrc"), u.path("home/.pip/pip.conf")}
	template, err := Prepare(Request{
		Home: u.path("home"), Hidden: all, Unseen: all[:1], Shared: u.path("shared"), Getenv: func(string) string { return "" },
	})
	u.must(err)
	home := u.build(template)
	u.has(home, ".npmrc", "")
	u.has(home, ".pip/pip.conf", "[global]\n")
}
