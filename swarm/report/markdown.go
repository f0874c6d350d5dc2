package report

import (
	"fmt"
	"io"
	"strings"

	"agentswarm/internal/markdown"
)

const (
	// mostMarkdown bounds the text for a pull request, in bytes: forges refuse
	// longer ones.
	mostMarkdown = 60_000
	// mostEvidence bounds foreign text in it, in bytes.
	mostEvidence = 2_000
	// mostExample bounds the lines of an example in it.
	mostExample = 40
)

// Markdown writes the report as the text of a pull request. Foreign text stands
// in code only, so that it makes no link and no heading, and mentions no user.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## swarm run %s\n\n", markdown.Code(r.Run))
	fmt.Fprintf(&b, "%s; base %s", r.Status, markdown.Code(r.Base))
	for _, part := range []string{r.Began, r.Took, r.Cost} {
		if part != "" {
			b.WriteString("; " + part)
		}
	}
	b.WriteString(".\n")
	if r.Workflow != "" {
		b.WriteString("\n" + markdown.Fence("", firstBytes(r.Workflow, mostEvidence)))
	}
	sections := []func(*strings.Builder){}
	for _, l := range r.Landings {
		sections = append(sections, func(b *strings.Builder) {
			fmt.Fprintf(b, "\n- %s on %s, %s: %s", l.State, markdown.Code(l.Ref), markdown.Code(l.Commit), spans(l.Agents))
		})
	}
	sections = append(sections, r.agentLines, func(b *strings.Builder) {
		fmt.Fprintf(b, "\n\n### Changes\n\n%d patches, %d edits, %d changed lines, %d lines to read.\n", r.Patches, r.Edits, r.Lines, r.ToRead)
	})
	for i := range r.Classes {
		sections = append(sections, r.Classes[i].markdown)
	}
	for i := range r.Refused {
		sections = append(sections, r.Refused[i].markdown)
	}
	left := 0
	for _, section := range sections {
		var part strings.Builder
		section(&part)
		if b.Len()+part.Len() > mostMarkdown {
			left++
			continue
		}
		b.WriteString(part.String())
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n\n… and %d more sections, which the HTML report has.\n", left)
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// agentLines counts the agents by their status.
func (r *Report) agentLines(b *strings.Builder) {
	count := map[string]int{}
	for _, a := range r.Agents {
		count[a.Status]++
	}
	b.WriteString("\n\n### Agents\n\n")
	for _, status := range []string{"completed", "failed", "cancelled", "running", "waiting", "queued"} {
		if count[status] > 0 {
			fmt.Fprintf(b, "- %d %s\n", count[status], status)
		}
	}
}

func (c *Class) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n#### %s: %d in %d patches, %s\n\n", c.ID, c.Edits, len(c.Patches)+c.MorePatches, c.Kind)
	if c.Accepted+c.Rejected > 0 {
		fmt.Fprintf(b, "- %d accepted, %d rejected\n", c.Accepted, c.Rejected)
	}
	for _, m := range c.Marks {
		fmt.Fprintf(b, "- %s\n", markdown.Code(m))
	}
	if len(c.Missing) > 0 {
		fmt.Fprintf(b, "- missing in %s\n", spans(c.Missing))
	}
	fmt.Fprintf(b, "- %s %s\n", markdown.Code(c.Place), c.About)
	var text strings.Builder
	for i, line := range c.Lines {
		if i == mostExample {
			fmt.Fprintf(&text, "… and %d more lines\n", len(c.Lines)-i+c.MoreLines)
			break
		}
		text.WriteString(line.Sign + line.Text + "\n")
	}
	if text.Len() > 0 {
		b.WriteString("\n" + markdown.Fence("diff", text.String()))
	}
}

func (f *Refused) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n#### Not taken: %s\n\n%s\n", markdown.Code(f.ID), markdown.Code(f.Why))
	if f.Command != "" {
		fmt.Fprintf(b, "\n%s\n", markdown.Code(f.Command))
	}
	if f.Evidence != "" {
		b.WriteString("\n" + markdown.Fence("", lastBytes(f.Evidence, mostEvidence)))
	}
}

// firstBytes bounds a text to its beginning.
func firstBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// lastBytes is the end of a text.
func lastBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "…" + text[len(text)-most:]
}

// spans are texts as code.
func spans(all []string) string {
	var out []string
	for i, text := range all {
		if i == mostNames {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		out = append(out, markdown.Code(text))
	}
	return strings.Join(out, ", ")
}
