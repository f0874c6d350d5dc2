package include

import (
	"slices"
	"testing"
)

func TestBoth(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want []string }{
		{},
		{a: []string{"x"}, b: []string{"y"}},
		{a: []string{"a/", "b"}, b: []string{"a/", "b"}, want: []string{"a/", "b"}},
		{a: []string{"a/b/c"}, b: []string{"a/"}, want: []string{"a/b/c"}},
		{a: []string{"a/"}, b: []string{"a-", "a/b/", "a/c", "a0"}, want: []string{"a/b/", "a/c"}},
		{a: []string{"ab"}, b: []string{"a/", "a"}},
	}
	for _, tt := range tests {
		if got := both(tt.a, tt.b); !slices.Equal(got, tt.want) {
			t.Errorf("both(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}
