package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// maxDifferences bounds the named places of a result that differ. The rest
// mostly has the same reason.
const maxDifferences = 5

// differences lists the places where a value differs from the wanted value.
func differences(want, got json.RawMessage) ([]string, error) {
	if len(got) == 0 {
		return []string{fmt.Sprintf("result: got undefined, want %s", clip(want))}, nil
	}
	w, err := decoded(want)
	if err != nil {
		return nil, fmt.Errorf("read the expected result: %w", err)
	}
	g, err := decoded(got)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	d := &differ{}
	d.values("result", w, g)
	return d.found, nil
}

func decoded(text json.RawMessage) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

type differ struct{ found []string }

func (d *differ) add(path, what string) {
	switch {
	case len(d.found) < maxDifferences:
		d.found = append(d.found, path+": "+what)
	case len(d.found) == maxDifferences:
		d.found = append(d.found, "… and more")
	}
}

func (d *differ) values(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			d.tables(path, w, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			d.lists(path, w, g)
			return
		}
	default: // compared as it is
	}
	if !reflect.DeepEqual(want, got) {
		d.add(path, fmt.Sprintf("got %s, want %s", shown(got), shown(want)))
	}
}

func (d *differ) tables(path string, want, got map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[k]; ok {
			d.values(path+"."+k, want[k], g)
		} else {
			d.add(path+"."+k, "is missing, want "+shown(want[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			d.add(path+"."+k, fmt.Sprintf("is not expected, got %s", shown(got[k])))
		}
	}
}

func (d *differ) lists(path string, want, got []any) {
	if len(want) != len(got) {
		d.add(path, fmt.Sprintf("has %d items, want %d", len(got), len(want)))
	}
	for i := range min(len(want), len(got)) {
		d.values(path+"["+strconv.Itoa(i)+"]", want[i], got[i])
	}
}

func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clip(text)
}

// clip keeps a value on a line that people read.
func clip(text []byte) string {
	const most = 200
	if runes := []rune(string(text)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(text)
}
