package tui

import "strconv"

// Entry is a row of a list.
type Entry struct {
	Key   string // names the row while the list changes
	Group string // the title above it; rows of a group follow each other
}

// List is the state of a list with groups: which rows are in sight, and which of
// them is selected. It keeps the selected row while rows come, go and move.
type List struct {
	entries  []Entry
	selected int
	top      int // the first visible line, counted with the titles
}

// Set replaces the rows. The selected row stays selected by its key; if it is
// gone, the row in its place is.
func (l *List) Set(entries []Entry) {
	key := l.Selected()
	l.entries = entries
	l.selected = min(max(l.selected, 0), max(0, len(entries)-1))
	if l.selected < len(entries) && entries[l.selected].Key == key {
		return
	}
	l.Select(key)
}

// Select selects the row with a key, if it exists.
func (l *List) Select(key string) {
	for i, e := range l.entries {
		if e.Key == key {
			l.selected = i
			return
		}
	}
}

// Selected is the key of the selected row; empty where there is no row.
func (l *List) Selected() string {
	if l.selected < len(l.entries) {
		return l.entries[l.selected].Key
	}
	return ""
}

// Index is the number of the selected row, from 0.
func (l *List) Index() int { return l.selected }

// Len is the number of rows.
func (l *List) Len() int { return len(l.entries) }

// Move selects the row that is some rows below, or above with a negative number.
// It reports whether the selection changed.
func (l *List) Move(rows int) bool {
	before := l.selected
	l.selected = min(max(l.selected+rows, 0), max(0, len(l.entries)-1))
	return l.selected != before
}

// NextGroup selects the first row of the next group, or of the previous group.
func (l *List) NextGroup(forward bool) {
	at := l.selected
	switch {
	case at >= len(l.entries):
	case forward:
		for i := at; i < len(l.entries); i++ {
			if l.entries[i].Group != l.entries[at].Group {
				l.selected = i
				return
			}
		}
	default:
		for at > 0 && l.entries[at-1].Group == l.entries[l.selected].Group {
			at--
		}
		if at == l.selected && at > 0 {
			for at--; at > 0 && l.entries[at-1].Group == l.entries[at].Group; {
				at--
			}
		}
		l.selected = at
	}
}

// line is a line of a list: a title, or a row.
type line struct {
	title string // of a group
	row   int    // -1: a title
}

// Draw draws the rows that fit height lines, with the selected row among them.
// Title and row draw a line each; groups without a name have no title.
func (l *List) Draw(height int, title func(group string) string, row func(i int, selected bool) string) []string {
	all := l.lines()
	at := 0
	for i, n := range all {
		if n.row == l.selected {
			at = i
		}
	}
	l.top = min(l.top, at)
	if at > 0 && all[at-1].row < 0 && l.top == at {
		l.top = at - 1 // with its title
	}
	l.top = max(l.top, at-height+1)
	l.top = max(0, min(l.top, len(all)-height))
	var out []string
	for _, n := range all[l.top:min(len(all), l.top+height)] {
		if n.row < 0 {
			out = append(out, title(n.title))
		} else {
			out = append(out, row(n.row, n.row == l.selected))
		}
	}
	return out
}

func (l *List) lines() []line {
	all := make([]line, 0, len(l.entries)+8)
	for i, e := range l.entries {
		if e.Group != "" && (i == 0 || l.entries[i-1].Group != e.Group) {
			all = append(all, line{title: e.Group, row: -1})
		}
		all = append(all, line{row: i})
	}
	return all
}

// Position says which row of how many is selected, such as 3/100.
func (l *List) Position() string {
	if len(l.entries) == 0 {
		return "0/0"
	}
	return strconv.Itoa(l.selected+1) + "/" + strconv.Itoa(len(l.entries))
}
