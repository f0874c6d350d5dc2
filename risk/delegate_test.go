package risk

import (
	"testing"
)

// TestDelegates: a program that passes its words to another program is judged
// as that program.
func TestDelegates(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	for _, tt := range []struct {
		command string
		want    Tier
		rule    string
	}{
		{"yadm push -f", HardToReverse, "git-push-force"},
		{"yadm reset --hard", Destructive, "git-reset-hard"},
		{"yadm status", Safe, ""},
		{"cargo +nightly publish", HardToReverse, "publish"},
		{"cargo +$T publish", HardToReverse, "publish"},
		{"cargo +nightly build", Safe, ""},
		{"corepack pnpm publish", HardToReverse, "publish"},
		{"corepack enable", Safe, ""},
		{"screen -S a -p 0 -X stuff 'ls^Mgit push -f\\n'", HardToReverse, "git-push-force"},
		{"screen -S a -X stuff 'go test ./...^M'", Safe, ""},
		{"byobu send-keys -t a 'git push -f' Enter", HardToReverse, "git-push-force"},
		{"zellij action write-chars 'git push -f'", HardToReverse, "git-push-force"},
		{"kitty @ send-text --match id:1 'git push -f\\n'", HardToReverse, "git-push-force"},
		{"octave --eval 'system(\"git push -f\")'", HardToReverse, "git-push-force"},
		{"tclsh <<< 'exec git push -f'", Destructive, ""},
		{"tclsh build.tcl", Safe, ""},
		{"corepack npx rimraf src", Destructive, "rm-recursive"},
		{"corepack npm exec rimraf src", Destructive, "rm-recursive"},
		{"corepack yarn@1.22 publish", HardToReverse, "publish"},
		{"corepack npx eslint .", Safe, ""},
		{"nix run nixpkgs#npm -- publish", HardToReverse, "publish"},
		{"nix run nixpkgs#nodePackages.npm -- publish", HardToReverse, "publish"},
		{"nix run --impure nixpkgs#bash -- -c 'rm -rf src'", Destructive, "rm-recursive"},
		{"nix run nixpkgs#npm -- test", Safe, ""},
		{"nix run nixpkgs#hello", Safe, ""},
		{"nix run . -- --help", Safe, ""},
		{"yarn workspace a run build", Safe, ""},
		{"eas build --auto-submit", Visible, "service-change-elsewhere"},
		{"eas build --platform ios", Safe, ""},
		{"/usr/lib/git-core/git-push -f", HardToReverse, "git-push-force"},
		{"git-lfs push origin main", Visible, "git-push"},
		{"git-status", Safe, ""},
		{"pip3.11 install package==1.0", HardToReverse, "downgrade"},
		{"composer.phar require package:1.0", HardToReverse, "downgrade"},
		{"php composer.phar require package:1.0", HardToReverse, "downgrade"},
		{"php composer.phar install", Safe, ""},
		{"npm -- publish", HardToReverse, "publish"},
		{"npm -- test", Safe, ""},
		{"npm publish --dry-run false", HardToReverse, "publish"},
		{"npm publish --dry-run $X", HardToReverse, "publish"},
		{"npm publish --dry-run ./x", Safe, ""},
		{"git push --dry-run $X", Safe, ""},
		{"fnm exec --using 20 npm publish", HardToReverse, "publish"},
		{"fnm exec npm test", Safe, ""},
		{"clickhouse-client -q 'alter table x delete where 1'", Destructive, "sql"},
		{"clickhouse-client -q 'alter table x delete where id = 2'", Safe, ""},
		{"psql -c 'alter table x add foreign key (a) references b on delete cascade'", Safe, ""},
		{"yadm alt", Safe, ""},
		{"vcsh dots push --force", HardToReverse, "git-push-force"},
		{"vcsh dots status", Safe, ""},
		{"vcsh list", Safe, ""},
		{"chezmoi git -- push --force", HardToReverse, "git-push-force"},
		{"chezmoi git status", Safe, ""},
		{"git review", Visible, "vcs-push"},
		{"git -C x review", Visible, "vcs-push"},
		{"git annex drop --force x", Destructive, "vcs-discard"},
		{"git -c core.pager=cat annex sync", Visible, "vcs-push"},
		{"yadm annex sync", Visible, "vcs-push"},
		{"git flow feature delete x", Destructive, "vcs-discard"},
		{"git flow feature start delete", Safe, ""},
		{"git town delete", Destructive, "vcs-discard"},
		{"git delete-branch x", Destructive, verbRule},
		{"git co release", Safe, ""}, // an alias, which names a branch
		{"git co -b delete-me", Safe, ""},
		{"git stage .", Safe, ""},
		{"git update-index --remove x", Safe, ""},
		{"repo forall -c 'git reset --hard'", Destructive, "git-reset-hard"},
		{"repo forall -c git log", Safe, ""},
	} {
		f := r.Classify(&Shell{Text: tt.command}, examplePlace(false))
		if f.Tier != tt.want || tt.rule != "" && !has(f.Parts, tt.rule) {
			t.Errorf("Classify(%q) = %s %v, want %s by %q", tt.command, f.Tier, f.Parts, tt.want, tt.rule)
		}
	}
	if f := r.Classify(&Shell{Text: "yadm push"}, examplePlace(false)); len(f.Unlisted) != 0 {
		t.Errorf("yadm push has programs without a rule: %v", f.Unlisted)
	}
}

// TestUnreadWords: a word that cannot be read hides the command of its program,
// and no other command.
func TestUnreadWords(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	for command, want := range map[string]Tier{
		`yarn add "$@"`: Safe, `yarn workspace "$1" add x`: Safe, `yarn add $X publish`: Safe, `yarn workspaces $X publish`: HardToReverse, `yarn "$@"`: HardToReverse, `yarn workspace a "$@"`: HardToReverse,
		`npm install "$@"`: Safe, `npm "$@"`: HardToReverse, `cargo add "$@"`: Safe, `cargo "$1"`: HardToReverse,
	} {
		if f := r.Classify(&Shell{Text: command}, examplePlace(false)); f.Tier != want {
			t.Errorf("Classify(%q) = %s %v, want %s", command, f.Tier, f.Parts, want)
		}
	}
}

// TestUnreadCommands: a push or a publication whose words are known only when it
// runs is never SAFE, nor is a program that can do these and whose command cannot be
// read. The tier is that of the gravest command that the words may be.
func TestUnreadCommands(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	for want, commands := range map[Tier][]string{
		Visible: {
			"docker push $IMG", "fossil push $X", "gh pr $x", "git push origin :$B", "npm run $X",
		},
		HardToReverse: {
			"./gradlew $x", "apt $x", "apt-get $x", "brew $x", "bun $x", "cabal $x", "cargo $x", "cargo publish $X", "changeset $x", "composer $x", "conan $x",
			"dart $x", "dart pub $x", "deno $x", "dnf $x", "docker image $x", "dotnet $x", "dotnet nuget $x", "flit $x", "flutter pub $x", "gem $x",
			"gem push $X", `git push "$@"`, "git push $REMOTE $BRANCH", "git push $X", "git push --$X", "git push origin $B", "git push origin +$B",
			"goreleaser $x", "hatch $x", "helm push $X", "hg push $X", "jj git push $X", "jsr $x", "lerna $x", "luarocks $x", "mix hex.$x", "mvn $x", "nix $x",
			"npm $x", "npm publish $X", "nx $x", "opam $x", "pip $x", "pnpm $x", "pod $x", "poetry $x", "semantic-release $x", "stack $x", "swift $x",
			"twine $x", "twine upload $X", "uv $x", "vsce $x", "vsce publish $X", "yarn $x", "zypper $x",
		},
		Destructive: {
			"aws s3 $x", "brz $x", "crane $x", "cvs $x", "darcs $x", "docker $x", "dolt $x", "dvc $x", "fossil $x", "gh $x", "gh release $x", `git "$@"`,
			"git $cmd", "git $cmd origin main", "git annex $x", "git flow $x", "git lfs $x", "git stash $x", "got $x", "helm $x", "hg $x", "jj $x", "jj git $x",
			"kubectl $x", "mix $x", "oras $x", "p4 $x", "pijul $x", "podman $x", "repo $x", "skopeo $x", "sl $x", "svn $x", "terraform $x",
		},
	} {
		for _, command := range commands {
			if f := r.Classify(&Shell{Text: command}, examplePlace(false)); f.Tier != want {
				t.Errorf("Classify(%q) = %s %v, want %s", command, f.Tier, f.Parts, want)
			}
		}
	}
}

// foldersFacts know the versions of packages in a single folder.
type foldersFacts struct {
	facts
	folder string
}

func (f *foldersFacts) Locked(manager, folder, name string) (version string, known bool) {
	if folder != f.folder {
		return "", true
	}
	return f.facts.Locked(manager, folder, name)
}

// TestDowngradeElsewhere: a command changes the packages of the folder that its
// command line names.
func TestDowngradeElsewhere(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	p := examplePlace(false)
	for _, command := range []string{
		"npm --prefix app install package@1", "pnpm -C app add package@1", "dotnet add app/App.csproj package package --version 1.0", "dotnet add app package package --version 1.0",
		"cargo add --manifest-path app/Cargo.toml package@1", "uv --project app add package==1", "composer require vendor/package 1.0 -d app",
	} {
		p.Facts = &foldersFacts{facts{locked: map[string]string{"npm package": "2.0.0", "nuget package": "2.0.0", "cargo package": "2.0.0", "pip package": "2.0.0", "composer vendor/package": "2.0.0"}}, p.Root + "/app"}
		if f := r.Classify(&Shell{Text: command}, p); f.Tier != HardToReverse {
			t.Errorf("Classify(%q) = %s, want a downgrade", command, f.Tier)
		}
		p.Facts = &foldersFacts{facts{}, ""}
		if f := r.Classify(&Shell{Text: command}, p); f.Tier != Safe {
			t.Errorf("Classify(%q) without a lock file = %s", command, f.Tier)
		}
	}
}
