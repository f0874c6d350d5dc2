package landing

import (
	"context"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/landing/queue"
)

// Conflicts returns the pairs of patches that change a common path and do not
// merge with each other, although each of them may merge onto the branch.
func (g *Gate) Conflicts(ctx context.Context) ([]queue.Conflict, error) {
	ids := make([]string, len(g.Patches))
	for i, p := range g.Patches {
		ids[i] = p.ID
	}
	met, err := meetings(ctx, ids, g.Paths)
	if err != nil {
		return nil, err
	}
	var pairs []queue.Conflict
	for _, m := range met {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := g.Merge(ctx, []string{m.First, m.Second})
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out.Conflicts, func(c merge.Conflict) bool { return slices.Contains(c.With, m.First) }) {
			pairs = append(pairs, m)
		}
	}
	return pairs, nil
}

// meetings returns the pairs of patches that change a common path, in the order of
// ids. It looks at each path of a patch once.
func meetings(ctx context.Context, ids []string, paths map[string][]string) ([]queue.Conflict, error) {
	changedBy := map[string][]int{} // indexes of the patches before, by path
	var pairs []queue.Conflict
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		meets := make([]bool, i)
		for _, path := range paths[id] {
			before := changedBy[path]
			if len(before) > 0 && before[len(before)-1] == i {
				continue // the patch names the path twice
			}
			for _, k := range before {
				meets[k] = true
			}
			changedBy[path] = append(before, i)
		}
		for k, met := range meets {
			if met {
				pairs = append(pairs, queue.Conflict{First: ids[k], Second: id})
			}
		}
	}
	return pairs, nil
}
