// Package initconfig writes the first configuration of a repository. [Look] finds out how
// a checkout is built and tested and which agents are installed; [Survey.Text] is the file.
package initconfig
