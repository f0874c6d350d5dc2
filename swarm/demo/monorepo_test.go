package demo

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	all, err := catalogue(maxPackages)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalogue(maxPackages + 1); err == nil {
		t.Errorf("catalogue has more than %d packages", maxPackages)
	}
	name := regexp.MustCompile(`^[a-z]+$`)
	seen, shapes := map[string]bool{}, map[string]bool{}
	for _, p := range all {
		if !name.MatchString(p.Name) || seen[p.Name] {
			t.Errorf("package name %q is no name or is there twice", p.Name)
		}
		seen[p.Name], shapes[p.shape] = true, true
	}
	few, err := catalogue(minPackages)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[outcome]int{}
	for _, p := range few {
		outcomes[planned(p.Name)]++
		delete(shapes, p.shape)
	}
	want := map[outcome]int{lands: minPackages - 4, keptBack: 1, refused: 1, timedOut: 1, unverified: 1}
	if !maps.Equal(outcomes, want) {
		t.Errorf("the smallest demo plans %v, want %v", outcomes, want)
	}
	if len(shapes) > 0 {
		t.Errorf("the smallest demo has no package of shapes %v", slices.Collect(maps.Keys(shapes)))
	}
}

// The whole plan rests on the effect of the agents' edits on the code, so it is
// tried with the real go command.
func TestMonorepoCompiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		packages int
		args     []string
		moved    bool
		fails    []string
	}{
		// The gate vets few packages. Its main job builds all of them.
		{"all packages", campaign.Rounds(t, minPackages, maxPackages), []string{"vet", "./..."}, false, nil},
		{"all packages, moved", campaign.Rounds(t, minPackages, maxPackages), []string{"vet", "./..."}, true, nil},
		{"tests", minPackages, []string{"test", "-trimpath", "./..."}, false, nil},
		{"tests, moved", minPackages, []string{"test", "-trimpath", "./..."}, true, []string{breaksATest}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			packages, tree := smallTree(t, test.packages)
			if test.moved {
				moveAll(t, packages, tree)
			}
			dir := t.TempDir()
			if err := tree.write(dir); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "go", test.args...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Environ(), "GOFLAGS=", "GOWORK=off")
			out, err := cmd.CombinedOutput()
			var fails []string
			for _, at := range regexp.MustCompile(`(?m)^FAIL\s+\S*/(\w+)\s`).FindAllStringSubmatch(string(out), -1) {
				fails = append(fails, at[1])
			}
			if (err == nil) != (test.fails == nil) || !slices.Equal(fails, test.fails) {
				t.Errorf("go %s = %v, failing %q, want %q\n%s", strings.Join(test.args, " "), err, fails, test.fails, out)
			}
		})
	}
}

// moveAll makes the changes of all agents that find nothing to refuse, and
// checks that each is complete.
func moveAll(t *testing.T, packages []entry, tree files) {
	t.Helper()
	for _, p := range packages {
		changed, done, err := migrate(tree, "packages/"+p.Name)
		if (err != nil) != (p.Name == refuses) {
			t.Fatalf("migrate(%s) = %v", p.Name, err)
		}
		if p.Name == refuses {
			continue
		}
		maps.Copy(tree, changed)
		if done.calls == 0 || done.mentions == 0 {
			t.Errorf("migrate(%s) = %+v, want calls and mentions", p.Name, done)
		}
		for rel, text := range changed {
			if rel != callersFile && !strings.HasPrefix(rel, "packages/"+p.Name+"/") {
				t.Errorf("migrate(%s) changed %s", p.Name, rel)
			}
			left := regexp.MustCompile(`\b(kv|store)\.Get\b`).FindAllString(text, -1)
			if len(left) > strings.Count(text, ".Get(\": \")")+strings.Count(text, "`kv.Get`.\"") {
				t.Errorf("migrate(%s) left %q in %s", p.Name, left, rel)
			}
		}
		if again, _, err := migrate(tree, "packages/"+p.Name); err != nil || len(again) > 0 {
			t.Errorf("migrate(%s) once more changed %d files, %v", p.Name, len(again), err)
		}
	}
}

func smallTree(t *testing.T, n int) ([]entry, files) {
	t.Helper()
	packages, err := catalogue(n)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := monorepo(packages)
	if err != nil {
		t.Fatal(err)
	}
	return packages, tree
}
