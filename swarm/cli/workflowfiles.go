package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/workflow"
)

// readText reads a regular file of at most some bytes. What is longer is cut
// one byte above that, for whoever knows what to say of it.
func readText(path string, most int) (string, error) {
	// Nobody writes into a pipe that lies in a checkout.
	switch stat, err := os.Stat(path); {
	case err != nil:
		return "", err
	case !stat.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	return string(text), errors.Join(err, f.Close())
}

// folderRequest says which files of a folder are read.
type folderRequest struct {
	dir  string // from the top of the checkout
	ext  string
	most int // bytes of each
	// patient leaves out what cannot be read.
	patient bool
}

// folder reads files of a folder of the checkout, by their paths from its top;
// none where there is no such folder.
func (p *place) folder(r folderRequest) ([]event.ScriptFile, error) {
	entries, err := os.ReadDir(filepath.Join(p.rootDir(), r.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refused(err)
	}
	var files []event.ScriptFile
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != r.ext {
			continue
		}
		path := filepath.Join(p.rootDir(), r.dir, e.Name())
		text, err := "", p.stays(path)
		if err == nil {
			text, err = readText(path, r.most)
		}
		if err != nil && r.patient {
			continue
		}
		if err != nil {
			return nil, refused(err)
		}
		files = append(files, event.ScriptFile{Name: r.dir + "/" + e.Name(), Text: text})
	}
	return files, nil
}

// stays refuses a file of the checkout that is a link to something outside: it
// would be recorded with the run, and sent to agents.
func (p *place) stays(path string) error {
	root, err := filepath.EvalSymlinks(p.rootDir())
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is a link that leads out of the repository", path)
	}
	return nil
}

// gatherTypes reads the types of agents that calls may name.
func (p *place) gatherTypes(s *scripted) error {
	var files []event.ScriptFile
	for _, dir := range []string{workflow.TypesFolder, workflow.ClaudeFolder} {
		some, err := p.folder(folderRequest{
			dir: dir, ext: ".md", most: workflow.MaxTypeText, patient: dir == workflow.ClaudeFolder,
		})
		if err != nil {
			return err
		}
		files = append(files, some...)
	}
	all, err := workflow.Types(files)
	if err != nil {
		return refused(err)
	}
	for name, t := range all {
		if t.Refused != "" {
			t.Prompt = "" // nobody gets to see it
			all[name] = t
		}
	}
	s.Types = all
	return nil
}

// namedScript is a script that the command line of a workflow verb names.
type namedScript struct {
	name string // as it was given, or that of a saved one
	path string
	file string // how messages call the path
}

// scriptNamed finds what a word means: a file, or a saved workflow.
func (p *place) scriptNamed(verb, word string) (namedScript, error) {
	if word == "" {
		return namedScript{}, usagef("%s: an empty word names no workflow", verb)
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	stat, err := os.Stat(path)
	isFile := err == nil && stat.Mode().IsRegular()
	if isFile && strings.EqualFold(filepath.Ext(word), ".js") {
		return namedScript{word, path, filepath.ToSlash(word)}, nil
	}
	var names []string
	for _, w := range p.savedWorkflows() {
		if w.name == strings.TrimSuffix(word, ".js") {
			return p.saved(w), nil
		}
		names = append(names, w.name)
	}
	message := fmt.Sprintf("%s: %s: there is no such file, and no such workflow in %s or %s",
		verb, Printable(word), swarmWorkflows, claudeWorkflows)
	switch near := nearest(word, names); {
	case isFile:
		message = fmt.Sprintf("%s: %s: a script's file ends in .js", verb, Printable(word))
	case near != "":
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return namedScript{}, usagef("%s", message)
}

func (p *place) saved(w saved) namedScript { return namedScript{w.name, w.path, p.shown(w.path)} }

// scriptsNamed finds what all words mean; every saved workflow where there are
// none.
func (p *place) scriptsNamed(verb string, words []string) ([]namedScript, error) {
	var all []namedScript
	if len(words) == 0 {
		for _, w := range p.savedWorkflows() {
			all = append(all, p.saved(w))
		}
	}
	for _, word := range words {
		s, err := p.scriptNamed(verb, word)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// shown is what a script's file is called: from the top of the checkout where
// it lies there.
func (p *place) shown(path string) string {
	if rel, err := filepath.Rel(p.rootDir(), path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// vetted is a script that was read.
type vetted struct {
	namedScript
	text string
	meta *script.Meta // nil for a bare body
	uses []script.Use // the tools that it spells out
	// warnings name what is passed over in it, each with its place.
	warnings []string
	fault    error        // why it is none
	item     *config.Item // what an approval is of; nil where it lies elsewhere
	agreed   bool         // it has that approval, or needs none
}

// vetAll reads scripts and lets a process of its own check them. What is wrong
// with one is in it; an error is swarm's own.
func (p *place) vetAll(ctx context.Context, verb string, named []namedScript) ([]vetted, error) {
	if len(named) == 0 {
		return nil, nil
	}
	brought, err := p.filesOf(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	all := make([]vetted, len(named))
	var sources []script.Source
	var places []int
	for i, n := range named {
		pl := &plan{verb: verb}
		all[i].namedScript = n
		if err := pl.readScriptFile(p, n.file, n.path); err != nil {
			all[i].fault = usagef("%s", strings.TrimPrefix(err.Error(), verb+": "))
			continue
		}
		all[i].text = pl.script.Text
		if err := all[i].approval(p, pl, brought); err != nil {
			return nil, err
		}
		sources = append(sources, pl.script.source())
		places = append(places, i)
	}
	if len(sources) == 0 {
		return all, nil
	}
	var s scripted
	if err := p.gatherLib(&s); err != nil {
		return nil, err
	}
	var broken *ScriptError
	loaded, err := p.load(ctx, sources, s.Lib)
	if errors.As(err, &broken) {
		// The project's own functions are: no run would begin.
		for _, at := range places {
			all[at].fault = broken
		}
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		all[at].meta, all[at].uses, all[at].warnings = loaded[i].Meta, loaded[i].Uses, loaded[i].Warnings
		if e := loaded[i].Error; e != nil {
			all[at].fault = &ScriptError{Err: e}
		} else if _, err := argsSchema(loaded[i].Meta); err != nil {
			all[at].fault = usagef("%s: %v", all[at].file, err)
		}
	}
	return all, nil
}

// approval finds out whether a run of the script would ask for one. A workflow
// that another one calls may need it where a run would not.
func (v *vetted) approval(p *place, pl *plan, brought []string) error {
	if len(pl.lies) > 0 || pl.nested {
		item := workflowItem(v.file, v.text)
		v.item = &item
	}
	pl.trustScript(brought)
	missing, err := config.Trust{Dir: p.state.Trust()}.Pending(pl.wants)
	v.agreed = err == nil && len(missing) == 0
	return err
}

// workflowNames offers the saved workflows.
func (c *completer) workflowNames(ctx context.Context) {
	p := c.place(ctx)
	if p == nil {
		return
	}
	for _, w := range p.savedWorkflows() {
		c.fitting(w.name, w.dir)
	}
}

// workflowArguments opens the place of a command whose arguments, from least to
// most of them, are scripts.
func workflowArguments(c *cli.Context, env Env, least, most int) (*place, []string, error) {
	words, err := arguments(c, least, most)
	if err != nil {
		return nil, nil, err
	}
	p, err := openPlace(c, env)
	return p, words, err
}
