package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Dialect is how a list is asked for. The zero value is none.
type Dialect string

// The dialects.
const (
	OpenAI    Dialect = "openai"
	Anthropic Dialect = "anthropic"
	Gemini    Dialect = "gemini"
	Ollama    Dialect = "ollama"
)

// Source is a provider that is asked.
type Source struct {
	Dialect Dialect // required
	// URL is where it is, as its clients are told: with /v1 for OpenAI and for
	// Ollama, without any version for the others.
	URL string
	Key string // never printed; empty: none
}

// patience is how long a provider may take for all of its list.
const patience = 10 * time.Second

// StatusError is an answer that is none.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	text := fmt.Sprintf("it answers %d %s", e.Code, http.StatusText(e.Code))
	switch {
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusForbidden:
		return text + ": the key is not taken"
	case e.Code/100 == 3:
		return text + ": it is elsewhere, where no key is sent"
	}
	return strings.TrimSpace(text)
}

// Ask asks for all models. Nothing that it was answered is in an error: servers
// repeat keys.
func (s Source) Ask(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport: transport,
		// A key that is in a header of its own would go along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	base := strings.TrimRight(s.URL, "/")
	bare := strings.TrimSuffix(base, "/v1")
	switch s.Dialect {
	case OpenAI:
		return s.pages(ctx, client, list{at: base + "/models", read: readOpenAI})
	case Anthropic:
		return s.pages(ctx, client, list{at: bare + "/v1/models?limit=1000", turn: "after_id", read: readAnthropic})
	case Gemini:
		return s.pages(ctx, client, list{at: strings.TrimSuffix(base, "/v1beta") + "/v1beta/models?pageSize=1000", turn: "pageToken", read: readGemini})
	case Ollama:
		all, err := s.pages(ctx, client, list{at: bare + "/api/tags", read: readOllama})
		var status *StatusError
		if errors.As(err, &status) && status.Code == http.StatusNotFound {
			// Others that are put in its place speak as OpenAI does alone.
			return s.pages(ctx, client, list{at: base + "/models", read: readOpenAI})
		}
		return all, err
	default:
		return nil, fmt.Errorf("unknown dialect %q", s.Dialect)
	}
}

// list is where pages are, and how they are read.
type list struct {
	at   string
	turn string // the parameter that asks for the next page; empty: there is a single page
	read func([]byte) (page, error)
}

func (s Source) pages(ctx context.Context, client *http.Client, l list) ([]Model, error) {
	var all []Model
	at := l.at
	for range mostPages {
		text, err := s.get(ctx, client, at)
		if err != nil {
			return nil, err
		}
		p, err := l.read(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p.models...)
		if p.next == "" || l.turn == "" || len(all) >= mostModels {
			break
		}
		at = l.at + "&" + l.turn + "=" + url.QueryEscape(p.next)
	}
	return Tidy(all), nil
}

func (s Source) get(ctx context.Context, client *http.Client, at string) (_ []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("it has no address")
	}
	r.Header.Set("Accept", "application/json")
	if s.Dialect == Anthropic {
		r.Header.Set("anthropic-version", "2023-06-01")
	}
	if s.Key != "" {
		s.authorize(r.Header)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, plainly(ctx, err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, &StatusError{answer.StatusCode}
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, plainly(ctx, err)
	case len(text) > mostBytes:
		return nil, fmt.Errorf("its list is longer than %d MiB", mostBytes>>20)
	}
	return text, nil
}

// authorize adds the key as the dialect has it.
func (s Source) authorize(h http.Header) {
	switch s.Dialect {
	case Anthropic:
		h.Set("x-api-key", s.Key)
	case Gemini:
		h.Set("x-goog-api-key", s.Key)
	case OpenAI, Ollama:
		h.Set("Authorization", "Bearer "+s.Key)
	default:
		panic("unhandled " + string(s.Dialect))
	}
}

// plainly returns the reason that no answer came, without the address, which
// may hold more than a host.
func plainly(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return context.Cause(ctx)
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("it does not answer within %s", patience)
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("no answer: %w", err)
}
