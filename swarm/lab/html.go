package lab

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// HTML writes the report as a single page without scripts and network. The
// plots are drawn in it. HTML returns the error of the writer.
func (r *Report) HTML(to io.Writer) error {
	var b strings.Builder
	title := html.EscapeString(r.Title)
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" + title + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n")
	fmt.Fprintf(&b, "<h1>%s</h1>\n", title)
	if r.Synthetic {
		b.WriteString("<p class=\"synthetic\">SYNTHETIC: these transcripts were made by hand. No figure here says anything of a model.</p>\n")
	}
	fmt.Fprintf(&b, "<p>%s%s. Off: the agents were not told of the failure mode. On: their prompt ended with the variant. "+
		"Each dot is a task. The bar is the mean difference with its interval of 95 %%; p is that of the paired test. "+
		"With many rows some differ by chance: one in twenty does.</p>\n",
		html.EscapeString(counted(r.Transcripts, "transcript")), html.EscapeString(r.missing()))
	for i := range r.Modes {
		r.Modes[i].html(&b)
	}
	if len(r.Failures) > 0 {
		b.WriteString("<h2>Left no transcript</h2>\n<ul>\n")
		for _, f := range r.Failures {
			fmt.Fprintf(&b, "<li>%s: %s %s</li>\n", html.EscapeString(f.Agent), html.EscapeString(f.Kind), html.EscapeString(f.Message))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</body>\n</html>\n")
	_, err := io.WriteString(to, b.String())
	return err
}

const style = `
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}
table{border-collapse:collapse;width:100%}th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid #d8dee4}
th:first-child,td:first-child{text-align:left}
.synthetic{background:#7a1f1f;color:#fff;padding:.5rem 1rem;font-weight:600}
.better{color:#116329}.worse{color:#a40e26}.plots{display:flex;flex-wrap:wrap;gap:1rem}
figure{margin:1rem 0}figcaption{font-size:.85rem;color:#57606a}
svg text{font:11px system-ui,sans-serif;fill:#57606a}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}svg text,figcaption{fill:#9198a1;color:#9198a1}
.better{color:#3fb950}.worse{color:#f85149}}
`

func (r *Report) missing() string {
	if r.Missing == 0 {
		return ""
	}
	return fmt.Sprintf(", %d more are missing", r.Missing)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (m *ModeReport) html(b *strings.Builder) {
	fmt.Fprintf(b, "<h2>%s/%s</h2>\n", html.EscapeString(m.Family), html.EscapeString(m.Mode))
	if m.Failure != "" {
		fmt.Fprintf(b, "<p>Treated: %s. %s.</p>\n", html.EscapeString(m.Failure), counted(m.Tasks, "task"))
	}
	b.WriteString("<table>\n<tr><th>measure</th><th>better</th><th>pairs</th><th>off</th><th>on</th><th>difference</th><th>95 %</th><th>p</th><th></th></tr>\n")
	for i := range m.Rows {
		row := &m.Rows[i]
		verdict := row.Verdict()
		fmt.Fprintf(b, "<tr><td title=\"%s\">%s</td><td>%s</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"%s\">%s</td></tr>\n",
			html.EscapeString(row.Says), html.EscapeString(row.Measure), row.Better, row.Pairs, Figure(row.Off), Figure(row.On),
			Figure(row.Difference), row.Between(), Chance(row.P), verdict, verdict)
	}
	b.WriteString("</table>\n<div class=\"plots\">\n")
	for i := range m.Rows {
		if row := &m.Rows[i]; row.Pairs > 0 {
			row.slopes(b)
			if row.Low != nil {
				row.interval(b)
			}
		}
	}
	b.WriteString("</div>\n")
}

// Between is the interval as text.
func (r *Row) Between() string {
	if r.Low == nil {
		return "-"
	}
	return Figure(r.Low) + " to " + Figure(r.High)
}

// Chance is a probability as text.
func Chance(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < 0.001:
		return "<0.001"
	default:
		return fmt.Sprintf("%.3f", *p)
	}
}

// The size of a plot, and its inner edges.
const (
	wide, high               = 300, 180
	left, right, top, bottom = 44, 12, 12, 24
)

// slopes draws a line for each task from its figure without the variant to that
// with it, and the means thicker.
func (r *Row) slopes(b *strings.Builder) {
	least, most := 0.0, 0.0
	for _, p := range r.Points {
		for _, x := range []*float64{p.Off, p.On} {
			if x != nil {
				least, most = min(least, *x), max(most, *x)
			}
		}
	}
	if most == least {
		most = least + 1
	}
	y := func(x float64) float64 { return top + (most-x)/(most-least)*(high-top-bottom) }
	fmt.Fprintf(b, "<figure><svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s of each task, off and on\">\n", wide, high, html.EscapeString(r.Measure))
	from, to := left+30, wide-right-30
	for _, at := range []float64{least, most} {
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text><line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>\n",
			left-6, y(at)+4, Figure(&at), left, wide-right, y(at), y(at))
	}
	var off, on float64
	for _, p := range r.Points {
		if p.Off == nil || p.On == nil {
			continue
		}
		off, on = off+*p.Off, on+*p.On
		fmt.Fprintf(b, "<g stroke=\"#8898\" fill=\"#4c78a8\"><title>%s: %s, %s</title><line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"+
			"<circle cx=\"%d\" cy=\"%.1f\" r=\"3\" stroke=\"none\"/><circle cx=\"%d\" cy=\"%.1f\" r=\"3\" stroke=\"none\"/></g>\n",
			html.EscapeString(p.Task), Figure(p.Off), Figure(p.On), from, y(*p.Off), to, y(*p.On), from, y(*p.Off), to, y(*p.On))
	}
	n := float64(r.Pairs)
	fmt.Fprintf(b, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#e45756\" stroke-width=\"3\"/>\n", from, y(off/n), to, y(on/n))
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">off</text><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">on</text>\n", from, high-6, to, high-6)
	fmt.Fprintf(b, "</svg><figcaption>%s (%s is better)</figcaption></figure>\n", html.EscapeString(r.Says), r.Better)
}

// interval draws the mean difference, where it lies, and 0.
func (r *Row) interval(b *strings.Builder) {
	reach := max(math.Abs(*r.Low), math.Abs(*r.High), math.Abs(*r.Difference))
	if reach == 0 {
		reach = 1
	}
	const middle = high / 2
	x := func(v float64) float64 { return left + (v+reach)/(2*reach)*(wide-2*left) }
	fmt.Fprintf(b, "<figure><svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"difference of %s, on less off\">\n", wide, high, html.EscapeString(r.Measure))
	fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#8888\" stroke-dasharray=\"4 3\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">0</text>\n",
		x(0), x(0), top, high-bottom, x(0), high-6)
	fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#4c78a8\" stroke-width=\"3\"/>\n", x(*r.Low), x(*r.High), middle, middle)
	for _, v := range []float64{*r.Low, *r.High} {
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#4c78a8\" stroke-width=\"2\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x(v), x(v), middle-8, middle+8, x(v), middle+24, Figure(&v))
	}
	fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%d\" r=\"6\" fill=\"#e45756\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		x(*r.Difference), middle, x(*r.Difference), middle-14, Figure(r.Difference))
	b.WriteString("</svg><figcaption>on less off, with its interval</figcaption></figure>\n")
}
