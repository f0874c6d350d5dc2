package script

import _ "embed"

//go:embed swarm.d.ts
var declarations string

// Types are the types of scripts, for editors: a file swarm.d.ts.
func Types() string { return declarations }
