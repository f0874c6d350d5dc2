// Package patch reads the patches of agents: their changes and their text, the patches
// of submodules, and the copies of workspaces that people changed. It also resolves the
// addresses of such work.
//
// A patch is read by its commit, which a merge would land. The package prints nothing.
package patch
