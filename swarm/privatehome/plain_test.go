package privatehome

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainCases are configurations with their expected rest.
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

		{".gitconfig", "[user]\n\tname = Ada L # comment\n\temail = ada@example.org\n\tsigningKey = ABCDEF0123456789\n[safe] directory = *\n[Core]\n\tautocrlf\n\teditor = \"code --wait\"\n",
			"[user]\n\tname = \"Ada L\"\n\temail = \"ada@example.org\"\n\tsigningkey = \"ABCDEF0123456789\"\n[safe]\n\tdirectory = \"*\"\n[core]\n\tautocrlf\n\teditor = \"code --wait\"\n"},
		{".gitconfig", "[url \"https://u:the-secret@h.example.org/\"]\n\tinsteadOf = https://h.example.org/\n[url \"https://the-secret@h.example.org/\"]\ninsteadOf = a\n" +
			"[url \"git@h.example.org:\"]\n\tinsteadOf = https://h.example.org/\n\tpushInsteadOf = https://u:the-secret@h/\n[url \"ssh://git@h/\"]\ninsteadOf = b:\n",
			"[url \"git@h.example.org:\"]\n\tinsteadof = \"https://h.example.org/\"\n[url \"ssh://git@h/\"]\n\tinsteadof = \"b:\"\n"},
		{".gitconfig", "[http]\n\textraHeader = Authorization: Basic the-secret\n\tproxy = http://u:the-secret@p\n\tsslVerify = false\n\tcookieFile = the-secret\n" +
			"[http \"https://h/\"]\n\textraheader = \"X: the-secret\"\n\tproxy = http://p:3128\n[http \"https://u:the-secret@h/\"]\nsslVerify = false\n",
			"[http]\n\tsslverify = \"false\"\n[http \"https://h/\"]\n\tproxy = \"http://p:3128\"\n"},
		{".gitconfig", "[credential]\n\thelper = \"!f() { echo password=the-secret; }; f\"\n\thelper = store --file /the-secret\n\thelper =\n\thelper = !/usr/bin/gh auth git-credential\n\thelper = libsecret\n[credential \"https://h\"]\n\tpassword = the-secret\n\tusername = ada\n",
			"[credential]\n\thelper = \"\"\n\thelper = \"!/usr/bin/gh auth git-credential\"\n\thelper = \"libsecret\"\n[credential \"https://h\"]\n\tusername = \"ada\"\n"},
		{".gitconfig", "[alias]\n\tco = checkout\n\tlg = log --format='%h %s' --author=me\n\tfix = \"!f() { git commit --fixup \\\"$1\\\" && git rebase -i; }; f\"\n" +
			"\tup = !curl -u bob:the-secret https://h/\n\tpr = !git push https://u:the-secret@h/\n\tx = !git -c http.extraHeader='Authorization: the-secret' fetch\n\ty = !tool the-secret\n\tz = \"!git x; 'the-secret\"\n",
			"[alias]\n\tco = \"checkout\"\n\tlg = \"log --format='%h %s' --author=me\"\n\tfix = \"!f() { git commit --fixup \\\"$1\\\" && git rebase -i; }; f\"\n"},
		{".gitconfig", "[alias]\n\ta = \"!f() { tool -p $1; }; f the-secret\"\n\tb = !P=the-secret tool\n\tc = \"!P=the-secret; tool -p $P\"\n\td = \"!export P='the-secret'; tool\"\n" +
			"\te = !tool <<< the-secret\n\tf = !tool ${P:-the-secret}\n\tg = \"!P=${P:-the-secret} tool\"\n\th = \"!P=(the-secret); tool\"\n\ti = \"!local P=x$(tool the-secret)\"\n" +
			"\tk = \"!f() { b=$(git branch --show-current); n=5; LANG=C git push origin \\\"$b\\\"; tool -n $n; }; f \\\"$@\\\"\"\n",
			"[alias]\n\tk = \"!f() { b=$(git branch --show-current); n=5; LANG=C git push origin \\\"$b\\\"; tool -n $n; }; f \\\"$@\\\"\"\n"},
		{".gitconfig", "[alias]\n\ta = !git -c http.extraHeader='X-Api: the-secret' fetch\n\tb = -c http.https://h/.extraheader=X:the-secret fetch\n[remote \"o\"]\n\treceivepack = sshpass -phunter22 git-receive-pack\n\tuploadpack = /opt/git-upload-pack\n",
			"[remote \"o\"]\n\tuploadpack = \"/opt/git-upload-pack\"\n"},
		{".gitconfig", "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n[filter \"x\"]\n\tclean = crypt --key the-secret\n[core]\n\tsshCommand = sshpass -p the-secret ssh\n\taskPass = the-secret\n[mergetool \"m\"]\n\tcmd = meldlike \\\"$LOCAL\\\" \\\"$MERGED\\\" --wait\n",
			"[filter \"lfs\"]\n\tclean = \"git-lfs clean -- %f\"\n\trequired = \"true\"\n[mergetool \"m\"]\n\tcmd = \"meldlike \\\"$LOCAL\\\" \\\"$MERGED\\\" --wait\"\n"},
		{".gitconfig", "[github]\n\toauth = the-secret\n[sendemail]\n\tsmtpPass = the-secret\n[any \"x\"]\n\ty = the-secret\n[include]\n\tpath = ~/.gitconfig.local\n[includeIf \"gitdir:~/src/\"]\n\tpath = work.inc\n",
			"[include]\n\tpath = \"~/.gitconfig.local\"\n[includeif \"gitdir:~/src/\"]\n\tpath = \"work.inc\"\n"},
		{".config/git/config", "[a]\nthe-secret\n[user]\n\tname = \"Ada\n\tthe-secret = 1\n", ""},
		{".config/git/config", "[user]\n\tname = ghp_1234the-secret\n\temail = a\\\n b@c\n", "[user]\n\temail = \"a b@c\"\n"},

		{".cargo/config.toml", "[build]\njobs = 4\nrustflags = ['-C', 'link-arg=-fuse-ld=lld']\n[alias]\nb = 'build --release'\nl = ['clippy', '--all-targets']\n[target.'cfg(target_os = \"linux\")']\nlinker = 'clang'\n",
			"[alias]\nb = 'build --release'\nl = ['clippy', '--all-targets']\n\n[build]\njobs = 4\nrustflags = ['-C', 'link-arg=-fuse-ld=lld']\n\n[target]\n[target.'cfg(target_os = \"linux\")']\nlinker = 'clang'\n"},
		{".cargo/config.toml", "[registry]\ntoken = 'the-secret'\ndefault = 'corp'\ncredential-provider = ['x', 'the-secret']\n[registries.corp]\nindex = 'sparse+https://m.example.org/index/'\ntoken = 'the-secret'\n" +
			"[registries.other]\nindex = 'https://u:the-secret@m.example.org/'\n[http]\nproxy = 'http://u:the-secret@p:3128'\ntimeout = 5\n[credential-alias]\nx = ['the-secret']\n",
			"[http]\ntimeout = 5\n\n[registries]\n[registries.corp]\nindex = 'sparse+https://m.example.org/index/'\n\n[registry]\ndefault = 'corp'\n"},
		{".cargo/config", "[source.crates-io]\nreplace-with = 'm'\n[source.m]\nregistry = 'sparse+https://m.example.org/'\n[source.n]\nregistry = 'https://the-secret@n/'\nreplace-with = 'm'\n" +
			"[env]\nA = 'b'\nAPI_TOKEN = 'the-secret'\nB_SECRET = { value = 'the-secret', force = true }\n",
			"[env]\nA = 'b'\n\n[source]\n[source.crates-io]\nreplace-with = 'm'\n\n[source.m]\nregistry = 'sparse+https://m.example.org/'\n"},
		{".cargo/config", "[build\nx = 'the-secret'", ""},

		{".config/uv/uv.toml", "index-url = 'https://m.example.org/simple'\nextra-index-url = ['https://u:the-secret@a/', 'https://b/']\npython-preference = 'system'\nkeyring-provider = 'the-secret'\n" +
			"[[index]]\nname = 'm'\nurl = 'https://m/'\n[[index]]\nname = 'n'\nurl = 'https://u:the-secret@n/'\n[pip]\nindex-url = 'https://m/'\n",
			"extra-index-url = ['https://b/']\nindex-url = 'https://m.example.org/simple'\npython-preference = 'system'\n\n[[index]]\nname = 'm'\nurl = 'https://m/'\n\n[pip]\nindex-url = 'https://m/'\n"},

		{".yarnrc", "registry \"https://m.example.org\"\n\"//m.example.org/:_authToken\" the-secret\ncache-folder /c\nlastUpdateCheck 17\nproxy http://u:the-secret@p\n_auth the-secret\n",
			"registry https://m.example.org\ncache-folder /c\nlastUpdateCheck 17\n"},
		{".condarc", "channels:\n  - https://h/t/the-secret/c\n  - conda-forge\n  - https://u:the-secret@h/c\nproxy_servers:\n  https: http://u:the-secret@p\n  http: http://p:3128\nssl_verify: false\nother: the-secret\n",
			"channels:\n    - conda-forge\nproxy_servers:\n    http: http://p:3128\nssl_verify: false\n"},
		{".gemrc", ":sources:\n- https://m.example.org\n- https://u:the-secret@n/\ngem: --no-document\n:rubygems_api_key: the-secret\n", ":sources:\n    - https://m.example.org\ngem: --no-document\n"},
		{".curlrc", "proxy = \"http://p:3128\"\nuser = bob:the-secret\nheader = \"Authorization: the-secret\"\n--silent\n-u bob:the-secret\nproxy http://u:the-secret@p\nmax-time: 5\nurl https://the-secret@h\n",
			"proxy http://p:3128\n--silent\nmax-time 5\n"},
		{".wgetrc", "https_proxy = http://p:3128\nhttp_proxy = http://u:the-secret@p\nproxy_password = the-secret\npassword=the-secret\ntries=3\nheader = X: the-secret\n", "https_proxy = http://p:3128\ntries = 3\n"},
		{".bash_history", "export TOKEN=the-secret\n", ""},
		{".config/zsh/.zsh_history", "export TOKEN=the-secret\n", ""},

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
			switch name {
			case ".npmrc", ".config/pnpm/rc", ".cargo/config", ".cargo/config.toml": // There a name has an @.
			case ".gitconfig", ".config/git/config":
				for _, e := range readGit([]byte(kept)) {
					if !plainGitEntry(e) {
						t.Errorf("%s: %q keeps %v", name, text, e)
					}
				}
			default:
				if strings.ContainsAny(kept, "@$") {
					t.Errorf("%s: %q keeps %q", name, text, kept)
				}
			}
		}
	})
}

// TestWritePlain: each copy is at the path of its file without links. Large files are
// left out.
func TestWritePlain(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".npmrc", "fund=false\n_auth="+secret+"\n")
	u.write("gradle/gradle.properties", strings.Repeat("#", maxFile+1))
	u.write("dotfiles/settings.xml", "<settings/>")
	u.write("dotfiles/git", "[user]\n\tname = Ada\n[include]\n\tpath = more\n")
	u.write("more", "[a]\n\tpassword = "+secret+"\n[init]\n\tdefaultBranch = main\n")
	u.write("xdg/git/config", "[http]\n\textraHeader = "+secret+"\n[includeIf \"gitdir:/x/\"]\n\tpath = "+u.path("home/work")+"\n")
	u.write("work", "[user]\n\temail = a@b\n\tpassword = "+secret+"\n[url \"https://u:"+secret+"@h/\"]\n\tinsteadOf = x\n")
	u.write("pip.conf", "[global]\nindex-url = https://m/\n  https://u:"+secret+"@n/\n")
	u.must(os.MkdirAll(u.path("elsewhere"), 0o700), os.WriteFile(u.path("elsewhere/config.toml"), []byte("[registry]\ntoken = '"+secret+"'\ndefault = 'm'\n"), 0o600))
	u.must(os.Symlink(u.path("home/dotfiles"), u.path("home/.m2")), os.Symlink("dotfiles/git", u.path("home/.gitconfig")),
		os.Mkdir(u.path("home/.pip"), 0o700), os.Mkdir(u.path("home/.pip/pip.conf"), 0o700))
	env := map[string]string{
		"XDG_CONFIG_HOME": u.path("home/xdg"), "PIP_CONFIG_FILE": u.path("home/pip.conf"), "GRADLE_USER_HOME": u.path("home/gradle"),
		"CARGO_HOME": u.path("elsewhere"), "WGETRC": "/dev/null",
	}
	getenv := func(name string) string { return env[name] }
	dir := u.path("plain")
	u.must(WritePlain(u.path("home"), getenv, dir))
	want := map[string]string{
		"home/.npmrc": "fund=false\n", "home/dotfiles/settings.xml": "<settings></settings>\n",
		"home/dotfiles/git": "[user]\n\tname = \"Ada\"\n[include]\n\tpath = \"more\"\n", "home/more": "[init]\n\tdefaultbranch = \"main\"\n",
		"home/xdg/git/config": "[includeif \"gitdir:/x/\"]\n\tpath = \"~/work\"\n", "home/work": "[user]\n\temail = \"a@b\"\n",
		"home/pip.conf": "[global]\nindex-url = https://m/\n", "elsewhere/config.toml": "[registry]\ndefault = 'm'\n",
	}
	for _, path := range PlainFiles(dir) {
		rel, _ := strings.CutPrefix(path, u.dir+"/")
		text, some := want[rel]
		if delete(want, rel); !some {
			t.Errorf("there is a copy of %s", path)
			continue
		}
		u.has(dir, path, text)
	}
	if len(want) > 0 {
		t.Errorf("there are no copies of %v", want)
	}
	if all := PlainFiles(""); all != nil {
		t.Errorf("without a folder they are %q", all)
	}
	if got := string(FlatGit(u.path("home"), getenv)); got != "[user]\n\tname = \"Ada\"\n[init]\n\tdefaultbranch = \"main\"\n" {
		t.Errorf("FlatGit = %q", got)
	}
}

// TestUnseen: of a file that the user hides no copy is shown, whatever leads to it.
func TestUnseen(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".npmrc", "fund=false\n")
	u.write(".pip/pip.conf", "[global]\n")
	u.write("dotfiles/git", "[user]\n\tname = Ada\n[include]\n\tpath = "+u.path("home/more")+"\n")
	u.write("more", "[init]\n\tdefaultBranch = main\n[github]\n\ttoken = "+secret+"\n")
	u.write(".config/git/config", "[include]\n\tpath = more\n")
	u.write(".config/git/more", "[init]\n\tdefaultBranch = main\n")
	u.write("dotfiles/curl", "silent\n")
	u.write(".bash_history", secret)
	u.write("pip/conf", "[global]\nno-input = true\n")
	u.must(os.WriteFile(u.path("uv.toml"), []byte("offline = true\n"), 0o600))
	u.must(os.Symlink("dotfiles/git", u.path("home/.gitconfig")), os.Symlink("dotfiles/curl", u.path("home/.curlrc")))
	env := map[string]string{"PIP_CONFIG_FILE": u.path("home/pip/conf"), "UV_CONFIG_FILE": u.path("uv.toml"), "WGETRC": os.DevNull}
	getenv := func(name string) string { return env[name] }
	unseen := []string{u.path("home/.npmrc"), u.path("home/.config/git/more"), u.path("home/dotfiles/curl")}
	all := append([]string{
		u.path("home/.pip/pip.conf"), u.path("home/.gitconfig"), u.path("home/.config/git/config"), u.path("home/.curlrc"),
		u.path("home/.bash_history"), u.path("home/pip/conf"), u.path("uv.toml"),
	}, append(unseen, GitIncludes(u.path("home"), getenv)...)...)
	template, err := Prepare(Request{Home: u.path("home"), Hidden: all, Unseen: unseen, Shared: u.path("shared"), Getenv: getenv})
	u.must(err)
	home := u.build(template)
	for name, want := range map[string]string{
		".npmrc": "", ".pip/pip.conf": "[global]\n", ".gitconfig": "[user]\n\tname = \"Ada\"\n[include]\n\tpath = \"~/more\"\n",
		"more": "[init]\n\tdefaultbranch = \"main\"\n", ".config/git/config": "[include]\n\tpath = \"more\"\n", ".config/git/more": "",
		".curlrc": "", "dotfiles/git": "", "pip/conf": "[global]\nno-input = true\n", ".config/uv/uv.toml": "offline = true\n",
	} {
		u.has(home, name, want)
	}
	if text, err := os.ReadFile(filepath.Join(home, ".bash_history")); err != nil || len(text) > 0 {
		t.Errorf(".bash_history is %q, %v", text, err)
	}
	got := template.Environ("/p")
	for name, want := range map[string]string{"PIP_CONFIG_FILE": "/p/pip/conf", "UV_CONFIG_FILE": "/p/.config/uv/uv.toml", "WGETRC": ""} {
		if value := variable(t, got, name); value != want {
			t.Errorf("%s = %q, want %q", name, value, want)
		}
	}
	path := strings.Join([]string{"/bin", u.path("home/.local/bin"), u.path("homes/bin"), u.path("home")}, ":")
	if got, want := template.Path("/p", path), strings.Join([]string{"/bin", "/p/.local/bin", u.path("home/.local/bin"), u.path("homes/bin"), u.path("home")}, ":"); got != want {
		t.Errorf("PATH is %s, want %s", got, want)
	}
}

// TestGitConfigGlobal: the file that GIT_CONFIG_GLOBAL names is shown without
// credentials. Git reads no other configuration of the user then.
func TestGitConfigGlobal(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".gitconfig", "[user]\n\tname = Ada\n")
	u.write("dotfiles/git", "[user]\n\tname = Bob\n[github]\n\ttoken = "+secret+"\n")
	file := u.path("home/dotfiles/git")
	getenv := func(name string) string { return map[string]string{"GIT_CONFIG_GLOBAL": file}[name] }
	const plain = "[user]\n\tname = \"Bob\"\n"
	if got := string(FlatGit(u.path("home"), getenv)); got != plain {
		t.Errorf("FlatGit = %q", got)
	}
	u.must(WritePlain(u.path("home"), getenv, u.path("plain")))
	if text, err := os.ReadFile(filepath.Join(u.path("plain"), file)); err != nil || string(text) != plain {
		t.Errorf("the copy is %q, %v", text, err)
	}
	file = os.DevNull
	if got := string(FlatGit(u.path("home"), getenv)); got != "" {
		t.Errorf("FlatGit = %q", got)
	}
}

// TestLongConfiguration checks that an overlong configuration of git is left
// out. The end of a cut configuration may be half of an address with a
// credential.
func TestLongConfiguration(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	getenv := func(string) string { return "" }
	u.write(".config/git/config", "[user]\n\tname = Ada\n")
	u.write(".gitconfig", strings.Repeat("#", maxFile-len("\n[remote \"o\"]url=https://u:the")+1)+"\n[remote \"o\"]url=https://u:the-secret@h/\n")
	if got := string(FlatGit(u.path("home"), getenv)); got != "[user]\n\tname = \"Ada\"\n" {
		t.Errorf("FlatGit = %q", got)
	}
	if all := PlainGit(u.path("home"), getenv); len(all) != 1 {
		t.Errorf("PlainGit = %q", all)
	}
}
