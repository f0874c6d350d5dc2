package session

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"

	"agentswarm/risk/repository"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/prompt"
	"agentswarm/worktree/git"
)

// memories are the files with a repository's text for agents, as they are in
// the commit that a run starts from. A work tree's files may be an agent's as
// much as a person's.
type memories struct {
	find func() (map[string]string, error)
}

const (
	maxMemories = 100
	// maxMemoryText is how long they may be together to be read at all.
	maxMemoryText = 4 << 20
)

// memoryNames are the files that are looked at. Links among them count.
func memoryNames() []string {
	return []string{repository.AgentsFile, "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md"}
}

func newMemories(ctx context.Context, s *Session) *memories {
	return &memories{sync.OnceValues(func() (map[string]string, error) {
		id, err := s.Run.Identity()
		if err != nil {
			return nil, err
		}
		return instructions(ctx, &s.Place, git.Hash(id.Base.Commit))
	})}
}

// Memory are some of them.
func (m *memories) Memory(names ...string) ([]prompt.File, error) {
	texts, err := m.find()
	if err != nil {
		return nil, err
	}
	var all []prompt.File
	for _, name := range names {
		if text, ok := texts[name]; ok {
			all = append(all, prompt.File{Name: name, Text: text})
		}
	}
	return all, nil
}

// instructions reads them from a commit.
func instructions(ctx context.Context, p *cmdline.Place, commit git.Hash) (map[string]string, error) {
	files, err := p.Repo.Under(ctx, git.UnderRequest{
		Commit: commit, Paths: memoryNames(), Max: maxMemories, Limit: maxMemoryText,
	})
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return map[string]string{repository.AgentsFile: "It is too long to be quoted here. Read what concerns your task."}, nil
	}
	if err != nil {
		return nil, err
	}
	texts, links := map[string]string{}, map[string]string{}
	for _, f := range files {
		switch {
		case !slices.Contains(memoryNames(), f.Path) || f.Text == nil:
		case f.Mode == "120000":
			links[f.Path] = path.Join(path.Dir(f.Path), string(f.Text))
		default:
			texts[f.Path] = string(f.Text)
		}
	}
	for name, to := range links {
		if text, ok := texts[to]; ok && links[to] == "" {
			texts[name] = text
		}
	}
	return texts, nil
}
