package config

import (
	"fmt"

	"agentswarm/worktree"
)

// captureKeys are the keys of the table [capture].
func captureKeys() []key[Config] {
	return []key[Config]{
		{
			"max_file", sizeShape(1), sizeText(worktree.DefaultMaxFile), "",
			"size above which a new or changed file stays out of the patch; the trash keeps it",
			func(c *Config, f field) error { return f.intoSize(&c.MaxFile, 1) },
			func(c *Config) any { return sizeText(c.MaxFile) },
		},
	}
}

// readMaxSize reads the size limit of a workspace. A repository may lower the
// user's, and neither raises nor lifts it.
func (c *Config) readMaxSize(f field) error {
	var n int64
	if err := f.intoSize(&n, 0); err != nil {
		return err
	}
	most := c.bounds[f.key]
	switch {
	case f.layer == User:
		c.bounds[f.key] = float64(n)
	case most > 0 && (n == 0 || float64(n) > most):
		return c.ignore(f, nil, fmt.Sprintf("a repository may lower the user's %s, and not raise it", f.key))
	}
	c.MaxSize = n
	return nil
}
