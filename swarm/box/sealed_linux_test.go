package box

import "testing"

// TestSealed: what is sealed shows what was written before, and is not written to.
func TestSealed(t *testing.T) {
	t.Parallel()
	need(t, Full)
	g := newFixture(t, outside(t))
	sh(t, compose(t, Full, g.place()), "echo mine >$1/mine", g.Repo)
	p := g.place()
	p.Pieces[1].Sealed = true
	const script = `cat $1/file $1/mine; for f in new file mine dir/new; do (echo x >$1/$f) 2>/dev/null && echo wrote $f; done; rm -rf $1/dir 2>/dev/null && echo removed`
	if out := sh(t, compose(t, Full, p), script+"; :", g.Repo); out != "basemine\n" {
		t.Errorf("in a sealed workspace: %q", out)
	}
}
