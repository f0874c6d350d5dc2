package verb

import (
	"strings"
	"testing"

	"agentswarm/risk/argv"
)

func tables(t testing.TB, added ...*Added) *Tables {
	t.Helper()
	all, err := New(added...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wordsOf are words of a command line; the text from a box on is not known.
func wordsOf(texts []string) []argv.Word {
	words := argv.Words(texts...)
	for i := range words {
		before, _, gap := strings.Cut(words[i].Value, "□")
		if gap {
			words[i] = argv.Word{Value: before}
		}
	}
	return words
}

func TestRead(t *testing.T) {
	t.Parallel()
	all := tables(t)
	for _, tt := range []struct {
		command string
		want    Class
		verb    string
	}{
		// Subcommands: the words before the first option.
		{"acme delete x", Destruction, "delete"},
		{"acme db cluster delete", Destruction, "delete"},
		{"acme a b c d e delete", None, ""},
		{"acme --region eu delete x", Destruction, "delete"},
		{"acme -v delete x", Destruction, "delete"},
		{"acme log --format release", None, ""},
		{"acme log --until delete", None, ""},
		{"acme ./delete x", None, ""},
		{"quilt push", None, ""},
		{"stg push x", None, ""},
		// A word that is not known may be a group.
		{"acme □ delete", Destruction, "delete"},
		{"acme □ delete x", Destruction, "delete"},
		{"acme db □ delete x", Destruction, "delete"},
		{"acme □ db destroy", Destruction, "destroy"},
		{"acme □ rm x", Destruction, "rm"},
		{"acme □ □ publish", Publication, "publish"},
		{"acme --env □ delete x", Destruction, "delete"},
		{"acme □ list delete", None, ""},
		{"acme □ create delete", None, ""},
		{"acme get □ delete", None, ""},
		{"acme □ release", None, ""},
		{"acme □ delete-me", None, ""},
		{"acme □ post", None, ""},
		{"acme □ ./delete", None, ""},
		{"acme delete □", Destruction, "delete"},
		{"acme □", None, ""},
		{"acme name-□ delete", Destruction, "delete"},
		{"acme delete-□", Destruction, "delete-…"},
		{"acme ./□ delete", None, ""},
		{"acme □ deploy", Publication, "deploy"},
		{"acme sync --delete=□", Destruction, "--delete"},
		{"acme delete db --dry-run=□", Destruction, "delete"},
		{"acme 12 delete", None, ""},
		{"acme name=x delete", None, ""},
		{"acme list delete", None, ""},
		{"acme create delete", None, ""},
		{"acme rm", None, ""},
		{"acme rm x", Destruction, "rm"},
		{"acme run delete x", Destruction, "delete"},
		// A word that may be the value of an option makes no command a read.
		{"acme delete db --dry-run", None, ""},
		{"acme delete db -h", None, ""},
		{"acme delete db --reason --dry-run --yes", Destruction, "delete"},
		{"acme -h host delete db", Destruction, "delete"},
		{"acme delete db -h host", Destruction, "delete"},
		// Compounds.
		{"acme delete-user x", Destruction, "delete-user"},
		{"acme batch-delete-image x", Destruction, "batch-delete-image"},
		{"acme admin-delete-x", Destruction, "admin-delete-x"},
		{"acme apps:destroy x", Destruction, "apps:destroy"},
		{"acme records-delete x", Destruction, "records-delete"},
		{"acme deleteBucket x", Destruction, "deleteBucket"},
		{"acme rrdelete x", Destruction, "rrdelete"},
		{"acme delsnapshot x", Destruction, "delsnapshot"},
		{"acme vm.destroy x", Destruction, "vm.destroy"},
		{"acme release_name", None, ""},
		{"acme get-delete-marker", None, ""},
		{"acme undo-delete x", None, ""},
		{"acme no-delete x", None, ""},
		{"acme delegate x", None, ""},
		{"acme delta x", None, ""},
		{"acme undelete x", None, ""},
		// Nouns.
		{"acme release v1", Publication, "release"},
		{"acme release list", None, ""},
		{"acme clean", None, ""},
		{"acme db clean", Destruction, "clean"},
		{"acme releases create", Publication, "releases"},
		// Options.
		{"acme x --delete", Destruction, "--delete"},
		{"acme x --delete-all-pods", Destruction, "--delete-all-pods"},
		{"acme x --zero-superblock", Destruction, "--zero-superblock"},
		{"acme x -delete", Destruction, "-delete"},
		{"acme x --delete-after", None, ""},
		{"acme x --delete-method trash", None, ""},
		{"acme x --overwrite --detach --clean", None, ""},
		{"acme x --delete=false", None, ""},
		{"acme x -- --delete", None, ""},
		// Names of programs.
		{"x-delete a", Destruction, "x-delete"},
		{"fooctl-destroy", Destruction, "fooctl-destroy"},
		{"git-delete-branch x", Destruction, "git-delete-branch"},
		{"git-obliterate x", Destruction, "git-obliterate"},
		{"sendxmpp -t bob@example.com", Message, "sendxmpp"},
		{"sendxmpp", None, ""},
		{"sender x", None, ""},
		// The form of a database.
		{"acme migration revert", Destruction, "revert"},
		{"acme migrate:down", Destruction, "migrate:down"},
		{"acme config revert", None, ""},
		// An option that agrees.
		{"acme down -y", Destruction, "down"},
		{"acme down --all", Destruction, "down"},
		{"acme down", None, ""},
		{"acme up -y", None, ""},
		// Options with a side, with "all", of Windows, and against a dry run.
		{"acme --delete1 x", Destruction, "--delete1"},
		{"acme --eraseall", Destruction, "--eraseall"},
		{"acme /Delete /TN x", Destruction, "/Delete"},
		{"acme /delete/x", None, ""},
		{"acme --doit", Publication, "--doit"},
		{"acme sync --no-dry-run", Publication, "--no-dry-run"},
		// A version that is given makes nothing a read.
		{"acme delete x --version 1.2", Destruction, "delete"},
		{"acme delete x --version", None, ""},
		// A noun behind the verb.
		{"acme push build user/game", Publication, "push"},
		{"acme push build", None, ""},
		{"acme empty default", Destruction, "empty"},
		{"acme empty", None, ""},
		{"acme burn x 5", Destruction, "burn"},
		// Messages and money.
		{"acme post hello", Message, "post"},
		{"acme blog post list", None, ""},
		{"acme sendtoaddress x 1", Message, "sendtoaddress"},
		{"acme refunds create", Message, "refunds"},
		{"acme branches reset dev", Destruction, "reset"},
		{"acme clearsnapshot", Destruction, "clearsnapshot"},
		{"acme move publish", Publication, "publish"},
		{"acme x --push", Publication, "--push"},
		{"acme deploy-key list", None, ""},
		{"acme deploy-function x", Publication, "deploy-function"},
		{"acme reset-db", Destruction, "reset-db"},
		{"acme issue comment 3", Publication, "issue"},
		{"acme issue view 3", None, ""},
		{"youtube-upload x", Publication, "youtube-upload"},
		{"adb push a b", None, ""},
		{"acme deploy delete x", Destruction, "delete"},
		{"acme uninstall x", Removal, "uninstall"},
		// Reads.
		{"acme delete x --dry-run", None, ""},
		{"acme delete x --dryrun", None, ""},
		{"acme delete x --dry-run=false", Destruction, "delete"},
		{"acme delete x --no-dry-run", Destruction, "delete"},
		{"acme delete x -- --dry-run", Destruction, "delete"},
		{"acme delete --list Done", Destruction, "delete"},
		{"acme delete x --help", None, ""},
		{"acme help delete", None, ""},
		{"acme delete help", None, ""},
		{"acme delete /?", None, ""},
		{"acme delete x --check", None, ""},
		{"gum confirm --delete", None, ""},
		// A dry run in other spellings, and options that end in "only".
		{"acme delete x --dryRun", None, ""},
		{"acme delete x --dry_run", None, ""},
		{"acme delete x -dry-run", None, ""},
		{"acme delete x -dry", Destruction, "delete"},
		{"acme deploy --check-only", None, ""},
		// A publication that stays on this machine, or is left out.
		{"acme local deploy", None, ""},
		{"acme local delete x", Destruction, "delete"},
		{"acme deploy local", Publication, "deploy"},
		{"acme deploy --local", None, ""},
		{"acme release v1 --no-release", None, ""},
		{"acme release v1 --no-publish", Publication, "release"},
		// Verbs that harm nothing where they are about some objects.
		{"acme code format", None, ""},
		{"acme disk format", Destruction, "format"},
		{"acme pages rotate", None, ""},
		{"acme keys rotate", Destruction, "rotate"},
		{"acme project clean", None, ""},
		{"acme reset stats", None, ""},
		{"acme clear-counters", None, ""},
		{"acme destroy controller users", None, ""},
		{"acme destroy cluster users", Destruction, "destroy"},
		{"acme deploy-status x", None, ""},
		{"acme forget", None, ""},
		{"acme forget x", Destruction, "forget"},
		{"acme labels del", Destruction, "del"},
		// A file ends the subcommands; a domain does not.
		{"acme a.json delete", None, ""},
		{"acme example.info delete", Destruction, "delete"},
		{"acme --remove a.info /usr/x -o b.info", None, ""},
		{"acme --remove a.info /usr/x", Destruction, "--remove"},
		{"acme --remove x /usr/x -o b.info", Destruction, "--remove"},
		{"acme delete a.json -o json", Destruction, "delete"},
		{"acme --forceDeleteResults", Destruction, "--forceDeleteResults"},
		// Changes of things that others use.
		{"acme service update x", Change, "update"},
		{"acme orders:archive x", Change, "orders:archive"},
		{"acme update service", None, ""},
		{"acme list service update", None, ""},
		{"aliases users disable x", None, ""},
		{"netctl stop x", Change, "stop"},
		{"acme-admin disable x", Change, "disable"},
		{"playerctl stop", None, ""},
		{"acme stop x", None, ""},
		{"acme files put x", Message, "put"},
		{"acme put x", None, ""},
		{"opam rollback", None, ""},
	} {
		words := strings.Fields(tt.command)
		got := all.Read(Command{Program: words[0], Args: wordsOf(words[1:])})
		if got.Class != tt.want || got.Verb != tt.verb {
			t.Errorf("Read(%q) = %q %s, want %q %s", tt.command, got.Verb, got.Class, tt.verb, tt.want)
		}
	}
}

func TestReadObjects(t *testing.T) {
	t.Parallel()
	all := tables(t, &Added{Local: []string{"board"}, Restorable: []string{"undoable"}})
	for _, tt := range []struct {
		command, object  string
		kept, restorable bool
	}{
		{"acme plugin remove x", "plugin", false, false},
		{"acme delete-alias x", "alias", false, false},
		{"acme delete context x", "context", true, false},
		{"acme board delete x", "board", false, false},
		{"acme cluster delete x", "", false, false},
		{"opam remove x", "", false, true},
		{"acmeenv uninstall 1.2", "", false, true},
		{"env uninstall 1.2", "", false, false},
		{"acme npm prune", "", false, true},
		{"acme-extensions remove x", "extensions", false, false},
		{"history remove x", "", false, false},
		{"acme action-alias delete x", "", false, false},
		{"undoable remove x", "", false, true},
	} {
		words := strings.Fields(tt.command)
		got := all.Read(Command{Program: words[0], Args: argv.Words(words[1:]...)})
		if got.Object != tt.object || got.Kept != tt.kept || got.Restorable != tt.restorable {
			t.Errorf("Read(%q) = %+v", tt.command, got)
		}
	}
}

func TestNewAdded(t *testing.T) {
	t.Parallel()
	all := tables(t, &Added{Destroy: []string{"zap", "list"}, Publish: []string{"shout"}, Harmless: []string{"quiet"}})
	for command, want := range map[string]Class{
		"acme zap x": Destruction, "acme zap-all x": Destruction, "acme --zap": Destruction, "acme shout": Publication,
		"acme list x": Destruction, "quiet delete x": None,
	} {
		words := strings.Fields(command)
		if got := all.Read(Command{Program: words[0], Args: argv.Words(words[1:]...)}); got.Class != want {
			t.Errorf("Read(%q) = %s, want %s", command, got.Class, want)
		}
	}
	for _, bad := range []*Added{{Destroy: []string{"Zap"}}, {Send: []string{"a-b"}}, {Local: []string{""}}, {Harmless: []string{"a/b"}}} {
		if _, err := New(bad); err == nil {
			t.Errorf("New(%+v) has no error", bad)
		}
	}
	for _, tt := range []struct {
		added Added
		want  string
	}{{Added{Destroy: []string{"x"}}, ""}, {Added{Local: []string{"x"}}, "local"}, {Added{Restorable: []string{"x"}}, "restorable"}, {Added{Harmless: []string{"x"}}, "harmless"}} {
		if got := tt.added.Lowers(); got != tt.want {
			t.Errorf("Lowers(%+v) = %q, want %q", tt.added, got, tt.want)
		}
	}
}

// TestReadPattern: a pattern for files ends the subcommands.
func TestReadPattern(t *testing.T) {
	t.Parallel()
	got := tables(t).Read(Command{Program: "acme", Args: []argv.Word{{Value: "*", Known: true, Glob: true}, argv.Known("delete")}})
	if got.Class != None || len(got.Words) != 0 {
		t.Errorf("Read = %+v, want no verb", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"acme delete-user x", "x-delete", "-- -", "acme --delete=", "a \x00 b", "a:b:c --x", "git- -delete ", "ÄÖ deleteÄ delÖ"} {
		f.Add(seed, uint8(0))
	}
	all := tables(f)
	f.Fuzz(func(t *testing.T, line string, unknown uint8) {
		texts := strings.Split(line, " ")
		args := argv.Words(texts[1:]...)
		if n := len(args); n > 0 {
			args[int(unknown)%n].Known = unknown%2 == 0
		}
		got := all.Read(Command{Program: texts[0], Args: args, Script: unknown%3 == 0})
		if (got.Class == None) != (got.Verb == "") {
			t.Errorf("Read(%q) has the verb %q and the class %s", line, got.Verb, got.Class)
		}
		if len(got.Words) > maxWords {
			t.Errorf("Read(%q) has %d words", line, len(got.Words))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	all := tables(b)
	args := argv.Words(strings.Fields("compute cluster instances batch-delete-image --region eu-west --format json a b c")...)
	for b.Loop() {
		all.Read(Command{Program: "acme-cli", Args: args})
	}
}
