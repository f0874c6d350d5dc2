// Package variantscmd has the commands of variants: the list of them, and the comparison of agents
// with and without them.
package variantscmd
