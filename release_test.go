package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// releaseKeys are the keys at the top of the release configuration, as the
// second version of its format has them.
func releaseKeys() []string {
	return []string{"version", "project_name", "before", "builds", "archives", "checksum", "sboms", "changelog", "release"}
}

// TestRelease compares the release configuration with the repository: each
// named file exists, and each necessary part of a release is in it.
func TestRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := string(text)
	var parsed map[string]any
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	keys := slices.Sorted(maps.Keys(parsed))
	if want := slices.Sorted(slices.Values(releaseKeys())); !slices.Equal(keys, want) {
		t.Errorf("keys are %q, want %q", keys, want)
	}
	for _, want := range []string{
		"version: 2\n", "goos: [linux, darwin]", "goarch: [amd64, arm64]", "algorithm: sha256", "artifacts: archive",
		"CGO_ENABLED=0", `ldflags: ["-s -w"]`, "src: bin/release/man/*", "src: bin/release/completions/*",
	} {
		if !strings.Contains(config, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	// A file that git does not ignore makes the version of the build "+dirty".
	ignored, err := os.ReadFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"/dist/\n", "/bin/\n"} {
		if !strings.Contains("\n"+string(ignored), "\n"+folder) {
			t.Errorf("git does not ignore %s, which a release writes", strings.TrimSpace(folder))
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", filepath.Join(".ci", "release-files")} {
		if !strings.Contains(config, filepath.ToSlash(name)) {
			t.Errorf("it does not name %s", name)
		}
		at, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if name == filepath.Join(".ci", "release-files") && at.Mode()&0o100 == 0 {
			t.Errorf("%s cannot be run", name)
		}
	}
}

// TestBinarySize: every way of getting swarm that is documented leaves debug
// information out, and CI bounds the size of that binary.
func TestBinarySize(t *testing.T) {
	t.Parallel()
	for name, wants := range map[string][]string{
		"README.md":     {"go build -ldflags='-s -w' -o bin/swarm ."},
		"Containerfile": {"-ldflags='-s -w'"},
		filepath.Join(".ci", "release-files"): {
			"go build -trimpath -ldflags='-s -w' -o \"$binary\" .", `[ "$size" -gt 45000000 ]`,
		},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
}

// TestContainerfile: the image builds with the release of Go that go.mod asks
// for, and works on a mounted repository.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	wants := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if wants == nil || !strings.Contains(string(text), "golang:"+string(wants[1])+" ") {
		t.Errorf("the image does not build with go %s", wants[1])
	}
	for _, want := range []string{
		"git config --system --add safe.directory /work\n", // docker keeps the owner of a mounted repository
		"ENV SWARM_STATE_DIR=/state\nVOLUME /state\n",      // no overlay mounts on the file system of an image
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the image lacks %q", want)
		}
	}
}
