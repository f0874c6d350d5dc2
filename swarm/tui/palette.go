package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Role is the reason for which text is set off.
type Role int

// The roles. The zero value leaves text as it is.
const (
	Plain Role = iota
	Title
	Quiet
	Good
	Bad
	Warning
	Accent
	Selected
	Added
	Removed
	Keyword
	Literal
	Comment
	Name
)

// Palette sets text off. The zero value changes nothing but the selected row,
// which is shown in reverse.
type Palette struct {
	paint map[Role][2]string
}

// NewPalette is a palette with the sixteen colors of the terminal, or without
// colors.
func NewPalette(color bool) Palette {
	s := lipgloss.NewStyle
	styles := map[Role]lipgloss.Style{Selected: s().Reverse(true)}
	if color {
		fg := func(c string) lipgloss.Style { return s().Foreground(lipgloss.Color(c)) }
		styles = map[Role]lipgloss.Style{
			Title: s().Bold(true), Quiet: s().Faint(true), Good: fg("2"), Bad: fg("1").Bold(true), Warning: fg("3"),
			Accent: fg("6"), Selected: s().Reverse(true), Added: fg("2"), Removed: fg("1"),
			Keyword: fg("5"), Literal: fg("3"), Comment: s().Faint(true), Name: fg("4"),
		}
	}
	p := Palette{paint: map[Role][2]string{}}
	for role, style := range styles {
		before, after, _ := strings.Cut(style.Render("x"), "x")
		p.paint[role] = [2]string{before, after}
	}
	return p
}

// Paint sets printable text off.
func (p Palette) Paint(r Role, text string) string {
	around, ok := p.paint[r]
	if !ok || text == "" {
		return text
	}
	return around[0] + text + around[1]
}
