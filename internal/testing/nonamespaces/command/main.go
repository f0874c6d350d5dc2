// Command nonamespaces runs a command without user namespaces, as
// [nonamespaces.Main] says.
package main

import (
	"os"

	"agentswarm/internal/testing/nonamespaces"
)

func main() { os.Exit(nonamespaces.Main(os.Args[1:])) }
