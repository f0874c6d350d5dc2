package cli

import (
	"context"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/config"
	"agentswarm/worktree/git"
)

// projectConfig is the configuration file that a repository brings along, by
// its path from the root.
const projectConfig = ".swarm/config.toml"

// localConfig is the user's own file in a repository's folder.
const localConfig = ".swarm/config.local.toml"

// configFile is a configuration file that counts here, if it exists.
type configFile struct {
	layer config.Layer
	name  string // how messages call it
	path  string // empty: it is in the base commit
}

// configFiles lists the files of all layers, lowest first.
func (p *place) configFiles() []configFile {
	var files []configFile
	if path := config.UserFile(p.lookup); path != "" {
		files = append(files, configFile{config.User, path, path})
	}
	if p.repo.Bare() {
		return append(files, configFile{layer: config.Project, name: projectConfig})
	}
	return append(files,
		configFile{config.Project, projectConfig, filepath.Join(p.repo.TopLevel, projectConfig)},
		configFile{config.Local, localConfig, filepath.Join(p.repo.TopLevel, localConfig)})
}

// readConfig reads one of them, and tells whether it exists.
func (p *place) readConfig(ctx context.Context, f configFile, base git.Hash) (config.Source, bool, error) {
	if f.path == "" {
		text, err := p.repo.File(ctx, base, f.name)
		return config.Source{Layer: f.layer, Name: f.name, Text: text}, err == nil, ctx.Err()
	}
	source, err := config.ReadFile(f.layer, f.path)
	if err != nil {
		return config.Source{}, true, err
	}
	source.Name = f.name
	return source, fspath.Exists(f.path), nil
}
