package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// maxWait is the longest time in seconds that a call may ask to wait.
const maxWait = 3600

// dispatchInput is the input of dispatch.
type dispatchInput struct {
	Code string          `json:"code"`
	Args json.RawMessage `json:"args"`
	Wait *float64        `json:"wait_s"`
}

// runInput is the input of the tools that look after a run.
type runInput struct {
	Run  string   `json:"run"`
	Wait *float64 `json:"wait_s"`
}

// statusInput is the input of dispatch_status.
type statusInput struct {
	Run string `json:"run"`
}

// read decodes the input of a tool. An unknown member is an error, so that a
// misspelt option is not ignored.
func read(text json.RawMessage, into any) error {
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: a %s is not allowed here", wrong.Field, wrong.Value)
	case err != nil:
		return fmt.Errorf("input: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("input: text follows the object")
	}
	return nil
}

// request checks the input of dispatch.
func (in *dispatchInput) request() (Request, error) {
	code, err := unfence(in.Code)
	if err != nil {
		return Request{}, err
	}
	if strings.TrimSpace(code) == "" {
		return Request{}, errors.New("code: the script is empty")
	}
	return Request{Code: code, Args: arguments(in.Args)}, nil
}

// arguments returns the args of a script. Many clients send an object or a list
// as its JSON text: such a text is decoded. Any other text stays a text.
func arguments(args json.RawMessage) json.RawMessage {
	var text string
	switch {
	case len(args) == 0, string(args) == "null":
		return nil
	case json.Unmarshal(args, &text) != nil:
		return args
	}
	text = strings.TrimSpace(text)
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return args
}

// waitOf returns how long a call waits, or otherwise where it says nothing.
func waitOf(seconds *float64, otherwise time.Duration) (time.Duration, error) {
	if seconds == nil {
		return otherwise, nil
	}
	if n := *seconds; n < 0 || n > maxWait || n != math.Trunc(n) {
		return 0, fmt.Errorf("wait_s: %v: want 0 to %d seconds", n, maxWait)
	}
	return time.Duration(*seconds) * time.Second, nil
}
