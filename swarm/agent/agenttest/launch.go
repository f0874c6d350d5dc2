package agenttest

import "agentswarm/swarm/agent"

// Files are the contents of the files of a launch, by their names.
func Files(l agent.Launch) map[string]string {
	all := map[string]string{}
	for _, f := range l.Files {
		all[f.Name] = string(f.Data)
	}
	return all
}
