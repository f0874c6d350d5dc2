package picture

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long a frame is shown: at least, at most, and the last frame.
const (
	shortWait = 100 * time.Millisecond
	longWait  = 2500 * time.Millisecond
	lastHold  = 6 * time.Second
)

// Recording holds the contents of a screen over time.
type Recording struct {
	rows, cols int
	frames     []frame
}

// frame is a screen, and when it appeared.
type frame struct {
	at    time.Duration
	cells [][]Cell
}

// Output is a piece of the output of a program, and when it came.
type Output struct {
	At   time.Duration // since the start
	Text []byte
}

// Record shows output on a screen, and keeps the visible contents. Outputs that
// follow each other within a tenth of a second are seen together.
func Record(rows, cols int, outputs []Output) *Recording {
	s := NewScreen(rows, cols)
	r := &Recording{rows: s.rows, cols: s.cols}
	for i, o := range outputs {
		_, _ = s.Write(o.Text) // never fails
		if i+1 < len(outputs) && outputs[i+1].At-o.At < shortWait {
			continue
		}
		cells := make([][]Cell, s.rows)
		for row := range cells {
			cells[row] = slices.Clone(s.cells[row])
		}
		if n := len(r.frames); n == 0 || !same(r.frames[n-1].cells, cells) {
			r.frames = append(r.frames, frame{o.At, cells})
		}
	}
	return r
}

func same(a, b [][]Cell) bool {
	return slices.EqualFunc(a, b, func(x, y []Cell) bool { return slices.Equal(x, y) })
}

// The measures of the drawing, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 16
	fontSize   = 14
)

// SVG draws the recording as an animation that repeats. The last frame is shown
// where there is no animation, or no wish for motion. title is the text for readers who see no picture.
func (r *Recording) SVG(title string) []byte {
	width := float64(r.cols)*cellWidth + 2*margin
	height := r.rows * cellHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img">`+"\n",
		width, height+2*margin, width, height+2*margin)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(title))
	r.style(&b, height)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1e1e2e"/>` + "\n")
	fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%.0f" height="%d">`+"\n", margin, margin, width-2*margin, height)
	r.film(&b, height)
	b.WriteString("</svg>\n</svg>\n")
	return []byte(b.String())
}

// style writes the style sheet: colors, and when which frame is in the window.
func (r *Recording) style(b *strings.Builder, height int) {
	fmt.Fprintf(b, "<style>\ntext{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace;font-size:%dpx;"+
		"fill:#cdd6f4;white-space:pre}\n", fontSize)
	b.WriteString(".b{font-weight:bold}.d{opacity:.6}\n")
	for i, color := range palette() {
		fmt.Fprintf(b, ".c%d{fill:%s}", i+1, color)
	}
	starts, total := r.times()
	fmt.Fprintf(b, "\n.film{animation:play %.1fs step-end infinite}\n", total.Seconds())
	b.WriteString("@media (prefers-reduced-motion:reduce){.film{animation:none}}\n@keyframes play{\n")
	for i, start := range starts {
		fmt.Fprintf(b, "%.2f%%{transform:translateY(-%dpx)}\n", 100*float64(start)/float64(total), i*height)
	}
	b.WriteString("}\n</style>\n")
}

// times are when frames start, and how long all of them take. Long waits are
// cut short.
func (r *Recording) times() (starts []time.Duration, total time.Duration) {
	for i, f := range r.frames {
		starts = append(starts, total)
		hold := lastHold
		if i+1 < len(r.frames) {
			hold = min(longWait, max(shortWait, r.frames[i+1].at-f.at))
		}
		total += hold
	}
	return starts, max(total, shortWait)
}

// film writes all frames below each other. A row that is in several frames is
// written once.
func (r *Recording) film(b *strings.Builder, height int) {
	ids := map[string]int{}
	var defs, uses strings.Builder
	for i, f := range r.frames {
		for row, cells := range f.cells {
			text := drawRow(cells)
			if text == "" {
				continue
			}
			id, known := ids[text]
			if !known {
				id = len(ids)
				ids[text] = id
				fmt.Fprintf(&defs, `<text id="r%d" y="%d">%s</text>`+"\n", id, fontSize, text)
			}
			fmt.Fprintf(&uses, `<use href="#r%d" y="%d"/>`, id, i*height+row*cellHeight)
		}
		uses.WriteString("\n")
	}
	fmt.Fprintf(b, "<defs>\n%s</defs>\n<g class=\"film\" transform=\"translate(0 -%d)\">\n%s</g>\n",
		defs.String(), max(0, len(r.frames)-1)*height, uses.String())
}

// drawRow is a row as the content of a text element; empty for a blank row.
// Each word has its place, so that columns stand below each other in any font.
func drawRow(cells []Cell) string {
	var b strings.Builder
	for at := 0; at < len(cells); {
		if cells[at].Rune == ' ' {
			at++
			continue
		}
		end := at
		var word strings.Builder
		for end < len(cells) && cells[end].Style == cells[at].Style && !twoBlanks(cells, end) {
			word.WriteRune(cells[end].Rune)
			end++
		}
		text := strings.TrimRight(word.String(), " ")
		fmt.Fprintf(&b, `<tspan x="%.1f"%s>%s</tspan>`, float64(at)*cellWidth, class(cells[at].Style), escape(text))
		at = end
	}
	return b.String()
}

// twoBlanks says whether a gap between columns begins at a cell.
func twoBlanks(cells []Cell, at int) bool {
	return cells[at].Rune == ' ' && (at+1 == len(cells) || cells[at+1].Rune == ' ')
}

// class is the attribute for a style; empty for plain text.
func class(s Style) string {
	var names []string
	if s.Bold {
		names = append(names, "b")
	}
	if s.Dim {
		names = append(names, "d")
	}
	if s.Color > 0 {
		names = append(names, fmt.Sprintf("c%d", s.Color))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" class=%q", strings.Join(names, " "))
}

// palette is the color of each of the 16 colors on a dark background.
func palette() []string {
	return []string{
		"#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
		"#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
	}
}

// escape makes text safe for XML.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes all
	return b.String()
}

// LastLines are the lines of the last frame of a drawing, top to bottom,
// without blank ones.
func LastLines(svg []byte) ([]string, error) {
	var root struct {
		Inner struct {
			Rows []struct {
				ID    string `xml:"id,attr"`
				Parts []struct {
					X    float64 `xml:"x,attr"`
					Text string  `xml:",chardata"`
				} `xml:"tspan"`
			} `xml:"defs>text"`
			Uses []struct {
				Href string `xml:"href,attr"`
				Y    int    `xml:"y,attr"`
			} `xml:"g>use"`
			Height int `xml:"height,attr"`
		} `xml:"svg"`
	}
	if err := xml.Unmarshal(svg, &root); err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if len(root.Inner.Uses) == 0 || root.Inner.Height <= 0 {
		return nil, fmt.Errorf("read the picture: it has no frame")
	}
	rows := map[string]string{}
	for _, r := range root.Inner.Rows {
		var b strings.Builder
		for _, part := range r.Parts {
			for have := len([]rune(b.String())); have < int(part.X/cellWidth+0.5); have++ {
				b.WriteByte(' ')
			}
			b.WriteString(part.Text)
		}
		rows["#"+r.ID] = b.String()
	}
	uses := root.Inner.Uses
	last := uses[len(uses)-1].Y / root.Inner.Height
	var lines []string
	for _, u := range uses {
		if u.Y/root.Inner.Height == last {
			lines = append(lines, rows[u.Href])
		}
	}
	return lines, nil
}
