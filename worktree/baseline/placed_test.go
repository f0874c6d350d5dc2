package baseline

import (
	"fmt"
	"testing"
)

func FuzzParsePlaced(f *testing.F) {
	f.Add([]byte(placedHead + "\x001 2 3 4 5 6 100644 - a b\x00"))
	f.Add([]byte(placedHead + "\x001 2 3 4 5 6 160000 abc \n\xff\x00"))
	f.Add([]byte("placed 2\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePlaced(text)
		if err != nil {
			return
		}
		again, err := ParsePlaced(p.Text())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
			t.Errorf("parsePlaced(text(%v)) = %v, %v", p, again, err)
		}
	})
}
