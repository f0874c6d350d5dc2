package agent

import "testing"

func TestCredential(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"MY_API_KEY", "x", true},
		{"password", "x", true},
		{"AWS_REGION", "x", true},
		{"SERVER", "https://ada:pw@example.org/", true},
		{"SERVER", "https://example.org/", false},
		{"KEYBOARD", "de", false},
		{"HOME", "/home/ada", false},
	} {
		if got := Credential(tt.name, tt.value); got != tt.want {
			t.Errorf("Credential(%s, %s) = %t, want %t", tt.name, tt.value, got, tt.want)
		}
	}
}
