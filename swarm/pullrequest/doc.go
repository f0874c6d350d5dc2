// Package pullrequest turns the commits that a run landed into branches and pull
// requests.
//
// It owns which commits and files are in which pull request, the commits of a
// branch, its name and texts, and the calls of the programs of forges, gh and glab.
// It does not own how a run lands, nor questions to the user.
package pullrequest
