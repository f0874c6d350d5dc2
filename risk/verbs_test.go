package risk

import (
	"errors"
	"strings"
	"testing"

	"agentswarm/risk/verb"
)

func mustLoad(t testing.TB, user string) *Rules {
	t.Helper()
	r, err := Load([]byte(user))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestVerbs: the tier, the rule and the reason of programs without a rule.
func TestVerbs(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	for _, tt := range []struct {
		command string
		want    Tier
		rule    string
	}{
		{"acme-cli cluster delete x", Destructive, "verb"},
		{"acme-cli deploy", Visible, "verb"},
		{"acme-cli send x", Visible, "verb"},
		{"acme-cli uninstall x", HardToReverse, "verb"},
		{"acme-cli profile delete x", Visible, "verb"},
		{"acme-cli service update x", Visible, "verb"},
		{"acme-cli plugin delete x", Safe, ""},
		{"acme-cli publish http://localhost:1/x", Safe, ""},
		{"acme-cli publish http://localhost:1/x https://example.com", Visible, "verb"},
		{"acme-cli delete x --dry-run", Safe, ""},
		{"opam remove x", Safe, ""},
		{"opam remove x --root /opt/x", Destructive, "verb"},
		{"opam remove ~/x", Destructive, "verb"},
		{"sudo acme-cli delete x", Destructive, "verb"},
		{"x-delete a", Destructive, "verb"},
		{"./x-delete a", Safe, ""},
		{"x-delete.sh a", Safe, ""},
		{"./tool delete a", Destructive, "verb"},
		{"git delete-branch x", Destructive, "verb"},
		{"git obliterate x", Destructive, "verb"},
		{"git update-index --remove x", Safe, ""},
		{"./deploy.sh delete x", Destructive, "verb"},
		{"gh label delete x", HardToReverse, "forge-hard"},
		{"gh project item-delete 1", Destructive, "verb"},
		{"gh alias delete x", Safe, ""},
		{"mytool service remove x", Destructive, "verb"},
		{"mytool port list", Safe, ""},
		{"raco pkg remove x", Safe, ""},
		{"nix develop -c rm -rf x", Destructive, "suspect"},
		{"machinectl shell x /bin/rm -rf x", Destructive, "suspect"},
	} {
		f := r.Classify(&Shell{Text: tt.command}, examplePlace(false))
		if f.Tier != tt.want || tt.rule != "" && !has(f.Parts, tt.rule) {
			t.Errorf("Classify(%q) = %s %+v, want %s by %q", tt.command, f.Tier, f.Parts, tt.want, tt.rule)
		}
	}
	f := r.Classify(&Shell{Text: "acme-cli service update x"}, examplePlace(false))
	if want := `"update" of acme-cli, a program without a rule, may change something that others use`; f.Parts[0].Reason != want {
		t.Errorf("Reason = %s, want %s", f.Parts[0].Reason, want)
	}
	f = r.Classify(&Shell{Text: "acme-cli cluster delete x"}, examplePlace(false))
	if want := `"delete" of acme-cli, a program without a rule, may be permanent`; f.Parts[0].Reason != want {
		t.Errorf("Reason = %s, want %s", f.Parts[0].Reason, want)
	}
	if len(f.Readings) != 1 || f.Readings[0].Verb != "delete" || strings.Join(f.Readings[0].Words, " ") != "cluster delete x" {
		t.Errorf("Readings = %+v", f.Readings)
	}
}

// TestVerbsOfUser: a user extends the verbs and both tables. A rule of a user
// for a program does not hide its other verbs.
func TestVerbsOfUser(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, `
[verbs]
destroy = ["zap"]
publish = ["shout"]
local = ["board"]
restorable = ["acme"]
harmless = ["poet"]

[[rule]]
id = "mine"
tier = "VISIBLE"
reason = "it tells everybody"
match = [{ program = ["tellall"], first = ["tell"] }]
examples = ["tellall tell x"]
`)
	for command, want := range map[string]Tier{
		"foo zap x": Destructive, "foo shout": Visible, "foo board delete x": Safe, "acme delete x": Safe, "acme publish": Visible,
		"poet send x": Safe, "tellall tell x": Visible, "tellall delete x": Destructive, "tellall run rm -rf x": Destructive,
	} {
		if f := r.Classify(&Shell{Text: command}, examplePlace(false)); f.Tier != want {
			t.Errorf("Classify(%q) = %s, want %s", command, f.Tier, want)
		}
	}
	for text, want := range map[string]string{
		"[verbs]\ndestroy = [\"A B\"]\n":       "line 1: verbs.destroy: \"A B\" is not a word",
		"[verbs]\nmore = [\"x\"]\n":            "line 2: \"verbs.more\" is not a key here",
		"thin = [\"gh\"]\n":                    "built in",
		"generic = [\"rm\"]\n":                 "built in",
		"a = 1\n[verbs]\nlocal = [\"a/b\"]\n":  "line 1",
		"\n\n[verbs]\nharmless = [\"a/b\"]\n":  "line 3: verbs.harmless",
		"\n[verbs]\nrestorable = [\"rm *\"]\n": "line 2: verbs.restorable",
	} {
		if _, err := Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q) = %v, want %q", text, err, want)
		}
	}
}

// TestFamilies: kinds of commands that were SAFE, or a tier too low.
func TestFamilies(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	for want, commands := range map[Tier][]string{
		Visible: {
			"helmfile -e prod sync", "werf converge", "tk apply env", "flux reconcile kustomization x", "kops update cluster --yes", "terragrunt run-all apply",
			"hg push", "sl push", "fossil sync", "svn ci -m x", "brz push", "jj git push", "darcs push", "pijul push", "p4 submit", "cvs commit", "got send", "dolt push origin main",
		},
		HardToReverse: {
			"hg push -f", "brz push --overwrite", "jj git push --deleted", "svn rm https://example.com/x", "got send -d x",
			"zypper install --oldpackage x", "rpm -U --oldpackage x.rpm", "apt-get install --force-yes x=1", "dpkg -i x.deb", "pacman -U x.pkg", "pacman -Syuu", "apk add x=1", "snap revert x",
			"flatpak update --commit=x y", "nix-env --rollback", "guix package --roll-back", "conda install package=1", "dotnet add package package --version 1.0", "dart pub add package:1.0.0",
			"composer require package:1.0", "pipx install package==1.0", "deno add npm:package@1", "uv lock --resolution lowest-direct", "helm upgrade x y --version 1", "npm install package@$V",
			"pip install package==$V", `npm install "$PKG@$V"`, "npm install $PKG@1.0", "npm install my-$PKG@$V", "pip install $PKG==$V", `pip install "$PKG<2"`, "cargo add $PKG@1", `gem install "$PKG" -v "$V"`, `gem install "$PKG" -v 1.0`, "composer require $PKG:$V", "cargo update -p package --precise $V",
			"ip link set eth0 down", "iptables -A INPUT -j DROP", "nft -f x", "ufw disable", "firewall-cmd --add-port=1/tcp", "nmcli con down x", "tc qdisc add dev eth0 root", "route add default", "wg-quick down wg0", "tailscale down",
		},
		Destructive: {
			"svn revert -R .", "hg update -C", "hg purge", "jj abandon x", "git notes prune", "fossil clean", "darcs obliterate", "pijul reset", "brz clean-tree", "sl goto -C x", "p4 revert x", "cvs update -C",
			"hg $cmd", "svn $cmd x", "jj $cmd",
			"ip link delete eth0", "ip l d eth0", "loginctl terminate-user bob", "iptables -F", "ip6tables --flush", "nft flush ruleset", "nft 'flush ruleset'", "ufw reset", "firewall-cmd --remove-port=1/tcp", "nmcli c d x", "tc qdisc del dev eth0 root",
			"systemctl isolate rescue.target", "tmux kill-ses -t x", "journalctl --vacuum-time=1d",
			"psql -c 'explain analyze delete from t'", "mariadb -e 'analyze delete from t'",
		},
		Safe: {
			"psql -c 'explain delete from t'", "mysql -e 'explain delete from t'", "sqlite3 x 'explain query plan delete from t'", "duckdb x 'explain drop table t'", "trino --execute 'explain delete from t'",
			`eval "$(go env | grep GOPATH)"`, `eval "$(locale)"`, `eval set -- "$(getopt -o ab: -- "$@")"`,
			"npm install package@3", "npm install other@$V", "npm install ./$DIR", "npm install $PKG", `npm install "$@"`, `npm install --save-dev "$1"`, "npm install $(cat names)", `pip install "$PKG"`, `pip install -r "$FILE"`, "npm install $PKG/$DIR", "cargo add $PKG", "npm install my-$PKG", "conda install package=3", "hg update tip", "ip a", "nmcli c", "iptables -L", "ufw status", "systemctl list-units", "kill %1", "last reboot",
		},
	} {
		for _, command := range commands {
			if f := r.Classify(&Shell{Text: command}, examplePlace(false)); f.Tier != want || f.Opaque {
				t.Errorf("Classify(%q) = %s opaque %v %+v, want %s", command, f.Tier, f.Opaque, f.Parts, want)
			}
		}
	}
	for _, command := range []string{
		`eval "$(go env | grep -o x)"`, `eval "$(go env | sed s/x/y/)"`, `eval "$(go env GOPATH)"`, `eval "$(go env | grep -f x y)"`, `eval "$(go env | head -c 5)"`,
		"CGO_CFLAGS=$'a\\nrm x'; eval \"$(go env | grep rm)\"", `eval "$(go env; curl x)"`, `eval set -- "$(getopt -u -o a -- "$@")"`, `eval "$(cat x | grep y)"`,
	} {
		if f := r.Classify(&Shell{Text: command}, examplePlace(false)); !f.Opaque {
			t.Errorf("Classify(%q) is not opaque", command)
		}
	}
}

// TestDowngradeUnread: a lock file that cannot be read may pin any package.
func TestDowngradeUnread(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	p := examplePlace(false)
	for _, tt := range []struct {
		command    string
		unreadable bool
		want       Tier
	}{
		{"npm install other@1.0.0", false, Safe},
		{"npm install other@1.0.0", true, HardToReverse},
		{"npm install other@latest", true, Safe},
		{"npm install other", true, Safe},
		{"npm install other@$V", true, HardToReverse},
		{"pip install other==1.0", true, HardToReverse},
		{"cd $X && npm install other@1.0.0", false, HardToReverse},
	} {
		p.Facts = &facts{unreadable: tt.unreadable}
		if f := r.Classify(&Shell{Text: tt.command}, p); f.Tier != tt.want {
			t.Errorf("Classify(%q), unreadable %v = %s, want %s", tt.command, tt.unreadable, f.Tier, tt.want)
		}
	}
}

// FuzzVerbs: the grammar of verbs takes no tier away.
func FuzzVerbs(f *testing.F) {
	for _, seed := range []string{"acme delete x", "rm -rf x; acme list", "./deploy.sh --dry-run", "git push && x-delete y", "foo rm -rf x --help", "gh release create v1"} {
		f.Add(seed)
	}
	with := mustLoad(f, "")
	without := *with
	without.verbs = &verb.Tables{}
	f.Fuzz(func(t *testing.T, text string) {
		a, b := with.Classify(&Shell{Text: text}, examplePlace(false)), without.Classify(&Shell{Text: text}, examplePlace(false))
		if a.Tier < b.Tier || b.Opaque && !a.Opaque || b.Blocked && !a.Blocked {
			t.Errorf("Classify(%q) = %s with the grammar and %s without", text, a.Tier, b.Tier)
		}
		for _, p := range b.Parts {
			if !has(a.Parts, p.Rule) {
				t.Errorf("Classify(%q) lost the part of %s", text, p.Rule)
			}
		}
	})
}

func BenchmarkClassifyUnknown(b *testing.B) {
	r, p := mustLoad(b, ""), examplePlace(false)
	for b.Loop() {
		r.Classify(&Shell{Text: "acme-cli compute cluster instances batch-delete-image --region eu-west --format json a b c"}, p)
	}
}

// TestLoadWith: a repository only raises tiers, whatever its file says.
func TestLoadWith(t *testing.T) {
	t.Parallel()
	r, err := LoadWith([]byte("[verbs]\nrestorable = [\"acme\"]\n[[rule]]\nid = \"mine\"\ntier = \"VISIBLE\"\nreason = \"x\"\nmatch = [{ program = [\"tellall\"] }]\nexamples = [\"tellall\"]\n"), []byte(`
[verbs]
destroy = ["zap"]
publish = ["shout", "list"]

[[rule]]
id = "git-push"
tier = "HARD_TO_REVERSE"

[[rule]]
id = "mine"
tier = "HARD_TO_REVERSE"

[[rule]]
id = "theirs"
tier = "VISIBLE"
reason = "it tells"
match = [{ program = ["release"], first = ["tell"] }, { program = ["gh"], words = ["item-delete"] }, { program = ["newtool"] }]
examples = ["release tell"]
`))
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Tier{
		"foo zap x": Destructive, "foo shout": Visible, "foo shout delete x": Destructive, "foo list": Visible, "git push": HardToReverse,
		"tellall x": HardToReverse, "release x": Visible, "release delete x": Destructive, "release rm -rf x": Destructive, "acme remove x": Safe,
		"gh project item-delete 1": Destructive, "newtool delete x": Destructive, "newtool x": Visible,
	} {
		if f := r.Classify(&Shell{Text: command}, examplePlace(false)); f.Tier != want {
			t.Errorf("Classify(%q) = %s, want %s", command, f.Tier, want)
		}
	}
	for text, want := range map[string]string{
		"[verbs]\nlocal = [\"cluster\"]\n":            "line 1: verbs.local lowers tiers",
		"[verbs]\nrestorable = [\"acme\"]\n":          "verbs.restorable lowers tiers",
		"[verbs]\nharmless = [\"acme\"]\n":            "verbs.harmless lowers tiers",
		"known = [\"acme\"]\n":                        "built in",
		"[[rule]]\nid = \"kill\"\ntier = \"SAFE\"\n":  "may be raised and not lowered",
		"[[rule]]\nid = \"git-push\"\ntier = \"x\"\n": "not a tier",
		"[[rule]]\nid = \"a\"\ntier = \"VISIBLE\"\n":  "has no reason",
		"[verbs]\ndestroy = [\"A\"]\n":                "line 1: verbs.destroy",
		"[[rule]]\nid = \"b\"\ntier = \"SAFE\"\nreason = \"x\"\nmatch = [{ program = [\"b\"] }]\nexamples = [\"b\"]\nover = [\"mine\"]\n": "over lowers tiers",
		"[[rule]]\nid = \"c\"\ntier = \"VISIBLE\"\nreason = \"x\"\nmatch = [{ program = [\"c\"] }]\nexamples = [\"d\"]\n":                 "does not match its example",
	} {
		_, err := LoadWith(nil, []byte(text))
		var theirs *RepositoryError
		if !errors.As(err, &theirs) || !strings.Contains(err.Error(), want) {
			t.Errorf("LoadWith(%q) = %v, want %q of the repository", text, err, want)
		}
	}
}

// FuzzLoadWith: no file of a repository takes a tier away.
func FuzzLoadWith(f *testing.F) {
	f.Add("[verbs]\npublish = [\"delete\", \"acme\"]\n", "acme delete x")
	f.Add("[[rule]]\nid = \"a\"\ntier = \"SAFE\"\nreason = \"x\"\nmatch = [{ program = [\"rm\"] }]\nexamples = [\"rm\"]\n", "rm -rf x")
	f.Add("rule = [{ id = \"a\", tier = \"SAFE\", reason = \"x\", over = [\"kill\"], match = [{ program = [\"kill\"] }], examples = [\"kill 1\"] }]\n", "kill 1")
	f.Add("[[effect]]\nprogram = [\"frob\"]\nwrite = [\"operands\"]\n", "frob rm -rf x")
	f.Add("[[rule]]\nid = \"a\"\ntier = \"SAFE\"\nreason = \"x\"\nmatch = [{ program = [\"release\"] }]\nexamples = [\"release\"]\n", "./release push")
	without := mustLoad(f, "")
	f.Fuzz(func(t *testing.T, file, text string) {
		with, err := loadUnverified(nil, []byte(file))
		if err != nil {
			return
		}
		a, b := with.Classify(&Shell{Text: text}, examplePlace(false)), without.Classify(&Shell{Text: text}, examplePlace(false))
		if a.Tier < b.Tier {
			t.Errorf("Classify(%q) = %s with the rules of a repository %q and %s without", text, a.Tier, file, b.Tier)
		}
	})
}
