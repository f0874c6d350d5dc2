// Command serve runs a model server with a script, for trying an agent by hand
// and for benchmarks. It prints its URL, and its counts at the end.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"agentswarm/swarm/modeltest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	file := flag.String("script", "", "file with the script (JSON)")
	log := flag.String("log", "", "file that gets every request as a line of JSON when the server ends")
	flag.Parse()
	if *file == "" || flag.NArg() > 0 {
		return fmt.Errorf("usage: serve [-listen ADDRESS] [-log FILE] -script FILE")
	}
	data, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	script, err := modeltest.Parse(data)
	if err != nil {
		return err
	}
	if *log == "" {
		script.Forget = true
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	server, err := modeltest.Listen(*listen, script)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.URL())
	<-end
	counts := server.Stats()
	fmt.Printf("%d requests, %d refused, at most %d at once\n", counts.Requests, counts.Refused, counts.Highest)
	return write(*log, server.Requests())
}
