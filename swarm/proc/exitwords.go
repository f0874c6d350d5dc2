package proc

import "fmt"

// Words say how a command ended, such as "exit status 1".
func (x Exit) Words() string {
	switch {
	case x.Text != "":
		return x.Text
	case x.Signal != "":
		return "ended by " + x.Signal
	default:
		return fmt.Sprintf("exit status %d", x.Code)
	}
}
