package lockfile

import "testing"

func TestReadFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, pkg, version string
		manifest, ok             bool
	}{
		{"app/go.mod", "module x\n\nrequire example.com/a v1.2.3\n", "example.com/a", "v1.2.3", true, true},
		{"package.json", `{"dependencies": {"a": "^1.2.0"}}`, "a", "1.2.0", true, true},
		{"requirements.txt", "Some_Thing==1.4\n", "some-thing", "1.4", true, true},
		{"Cargo.lock", cargoLock, "", "", false, true},
		{"web/a.csproj", `<a><PackageReference Include="B" Version="3.0"/></a>`, "b", "3.0", true, true},
		{"package.json", "{", "", "", false, false},
		{"main.go", "package main", "", "", false, false},
		{"bun.lockb", "x", "", "", false, false},
	} {
		f, ok := ReadFile(test.name, []byte(test.text))
		if ok != test.ok || f.Manifest != test.manifest || f.Versions[test.pkg] != test.version {
			t.Errorf("ReadFile(%s) = %+v, %t", test.name, f, ok)
		}
		if test.ok && !Known(test.name) {
			t.Errorf("%s is not known", test.name)
		}
	}
	if !Newer("1.10.0", "1.9.9") || Newer("1.0", "1.0") {
		t.Error("Newer does not compare numbers")
	}
}
