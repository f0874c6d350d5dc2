package argv

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	g := &Grammar{
		Options: []string{"-C:", "-c:", "--git-dir:"},
		Sub: map[string]*Grammar{
			"push":  {Options: []string{"-f,--force", "--force-with-lease?", "--mirror", "-u,--set-upstream", "-o,--push-option:"}},
			"reset": {Options: []string{"--hard", "--soft"}},
		},
	}
	if err := g.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ give, want string }{
		{"-C d push -uf origin main", "push|-C=d --set-upstream --force|origin main"},
		{"push origin --force-w", "push|--force-with-lease|origin"},
		{"push --forc", "push|--force --force-with-lease|"},
		{"push -oci.skip x", "push|--push-option=ci.skip|x"},
		{"push -- -f", "push||-f"},
		{"reset --har", "reset|--hard|"},
		{"reset --no-hard", "reset|!--hard|"},
		{"status -x", "|-x|status"},
		{"push --push-option", "push|--push-option|"},
		{"push -xy=fo main", "push|-x -y|main"}, // an option of a name and a value, and no -f
	} {
		if got := spell(g.Parse(Words(strings.Fields(c.give)...))); got != c.want {
			t.Errorf("Parse(%q) = %q, want %q", c.give, got, c.want)
		}
	}
}

func TestParseSingle(t *testing.T) {
	t.Parallel()
	g := &Grammar{Single: true, Options: []string{"-name:", "-delete", "-exec:"}}
	if err := g.Prepare(); err != nil {
		t.Fatal(err)
	}
	got := spell(g.Parse(Words(strings.Fields(". -name x -delete -depth")...)))
	if want := "|-name=x -delete -depth|."; got != want {
		t.Errorf("Parse = %q, want %q", got, want)
	}
}

func TestParseUnsure(t *testing.T) {
	t.Parallel()
	g := &Grammar{Options: []string{"-f,--force"}}
	if err := g.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Word{{}, {Value: "-"}, {Value: "--fo"}} {
		if l := g.Parse([]Word{w}); !l.Unsure {
			t.Errorf("Parse(%+v).Unsure = %v", w, l.Unsure)
		}
	}
}

// spell formats a line in a fixed form.
func spell(l *Line) string {
	var options []string
	for _, o := range l.Options {
		text := o.Name
		if o.Negated {
			text = "!" + text
		}
		if o.Valued {
			text += "=" + o.Value.Value
		}
		options = append(options, text)
	}
	operands, _ := Text(l.Operands)
	return strings.Join(l.Sub, " ") + "|" + strings.Join(options, " ") + "|" + strings.Join(operands, " ")
}
