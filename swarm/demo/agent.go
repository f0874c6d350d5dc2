package demo

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// agentRequest is the task of an agent.
type agentRequest struct {
	Dir    string // required: the workspace
	Item   string // required: the package's folder in it, slash-separated
	Gate   string // required: the socket at which all agents meet
	Stdout io.Writer
}

// agent is the whole agent: it waits for the others, then moves a package from
// the old function to the new function.
func agent(ctx context.Context, r agentRequest) error {
	quiet := tells(r.Stdout, "waiting for the others")
	leave, err := meet(ctx, r.Gate, path.Base(r.Item))
	quiet()
	if err != nil {
		return err
	}
	defer leave()
	if path.Base(r.Item) == hangs {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	quiet = tells(r.Stdout, "moving callers")
	changed, done, err := move(r)
	quiet()
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Stdout, "rewrote %d calls and %d mentions of %s.%s in %d files\n",
		done.calls, done.mentions, path.Base(library), oldName, len(changed))
	for _, rel := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintln(r.Stdout, " ", rel)
	}
	return nil
}

// move moves the package in the workspace.
func move(r agentRequest) (files, counted, error) {
	before, err := readPackage(r.Dir, r.Item)
	if err != nil {
		return nil, counted{}, fmt.Errorf("read %s: %w", r.Item, err)
	}
	changed, done, err := migrate(before, r.Item)
	if err != nil {
		return nil, counted{}, fmt.Errorf("move %s to %s: %w", r.Item, newName, err)
	}
	if err := changed.write(r.Dir); err != nil {
		return nil, counted{}, fmt.Errorf("write %s: %w", r.Item, err)
	}
	return changed, done, nil
}

// tells writes the current action of an agent every second until quiet is
// called. A long silent agent would count as hanging.
func tells(out io.Writer, what string) (quiet func()) {
	done := make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				fmt.Fprintln(out, what)
			}
		}
	})
	return func() {
		close(done)
		told.Wait()
	}
}

// readPackage reads the files of a package: its folder, and the list it may be
// on.
func readPackage(dir, item string) (files, error) {
	inside, err := readFiles(filepath.Join(dir, filepath.FromSlash(item)))
	if err != nil {
		return nil, err
	}
	tree := files{}
	for rel, text := range inside {
		tree[path.Join(item, rel)] = text
	}
	list, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(callersFile)))
	tree[callersFile] = string(list)
	return tree, err
}

// migrate returns the files of a tree that change when the package at item
// moves to the new function. It reads only the tree, so that the check of the
// agents can compute their expected changes.
func migrate(tree files, item string) (files, counted, error) {
	changed := files{}
	var done counted
	for _, rel := range slices.Sorted(maps.Keys(tree)) {
		var text string
		var did counted
		var err error
		switch {
		case rel == callersFile:
			text = strikeOut(tree[rel], path.Base(item))
		case !strings.HasPrefix(rel, item+"/"):
			continue
		case path.Ext(rel) == ".go":
			text, did, err = rewriteGo(rel, tree[rel])
		case path.Ext(rel) == ".md":
			text, did = rewriteMarkdown(tree[rel])
		default:
			continue
		}
		if err != nil {
			return nil, counted{}, err
		}
		if text != tree[rel] {
			changed[rel] = text
			done.add(did)
		}
	}
	return changed, done, nil
}
