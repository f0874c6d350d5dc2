package cmdline

import (
	"runtime"
	"runtime/debug"
)

func BuildVersion() VersionReport {
	info, _ := debug.ReadBuildInfo()
	return VersionOf(info)
}

// VersionOf is the version that a build has: that of its module, else the
// commit it was made from.
func VersionOf(info *debug.BuildInfo) VersionReport {
	v := VersionReport{
		Schema: "swarm.version/1", Version: "devel", Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return v
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	switch tagged := info.Main.Version; {
	case tagged != "" && tagged != "(devel)":
		v.Version = tagged
	case v.Commit != "":
		v.Version = "devel-" + v.Commit[:min(12, len(v.Commit))] + dirty
	}
	return v
}

// VersionReport is the JSON of `swarm version --json`.
type VersionReport struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}
