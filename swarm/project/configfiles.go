package project

import (
	"context"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/config"
	"agentswarm/worktree/git"
)

// ConfigName is the configuration file that a repository brings along, by its path from the
// root.
const ConfigName = ".swarm/config.toml"

// LocalConfigName is the user's own file in a repository's folder.
const LocalConfigName = ".swarm/config.local.toml"

// ConfigFile is a configuration file that counts here, if it exists.
type ConfigFile struct {
	Layer config.Layer
	Name  string // in messages
	Path  string // empty: it is in the base commit
}

// ConfigFiles lists the files of all layers, lowest first.
func (p *Project) ConfigFiles() []ConfigFile {
	var files []ConfigFile
	if path := config.UserFile(p.Lookup); path != "" {
		files = append(files, ConfigFile{config.User, path, path})
	}
	if p.Repo == nil {
		return files
	}
	if p.Repo.Bare() {
		return append(files, ConfigFile{Layer: config.Project, Name: ConfigName})
	}
	return append(files,
		ConfigFile{config.Project, ConfigName, filepath.Join(p.Repo.TopLevel, ConfigName)},
		ConfigFile{config.Local, LocalConfigName, filepath.Join(p.Repo.TopLevel, LocalConfigName)})
}

// ReadConfig reads a configuration file, and tells whether it exists. That of
// the project comes from the base commit in a bare repository. It returns an
// error if an existing file cannot be read, or ctx has ended.
func (p *Project) ReadConfig(ctx context.Context, f ConfigFile, base git.Hash) (config.Source, bool, error) {
	if f.Path == "" {
		text, err := p.Repo.File(ctx, base, f.Name)
		return config.Source{Layer: f.Layer, Name: f.Name, Text: text}, err == nil, ctx.Err()
	}
	source, err := config.ReadFile(f.Layer, f.Path)
	if err != nil {
		return config.Source{}, true, err
	}
	source.Name = f.Name
	return source, fspath.Exists(f.Path), nil
}

// Config reads all configuration files, and lays the variables of the environment over
// them. An error names the file or the variable that has to change.
func (p *Project) Config(ctx context.Context, base git.Hash) (*config.Config, error) {
	var sources []config.Source
	for _, f := range p.ConfigFiles() {
		source, _, err := p.ReadConfig(ctx, f, base)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	c, err := config.Load(sources...)
	if err != nil {
		return nil, err
	}
	return c.Over(p.Lookup)
}

// Lookup is the environment as configuration reads it.
func (p *Project) Lookup(name string) (string, bool) { return config.Lookup(p.Getenv)(name) }

// UserFile is the user's own configuration file in messages.
func (p *Project) UserFile() string {
	if name := config.UserFile(p.Lookup); name != "" {
		return name
	}
	return "the user configuration"
}
