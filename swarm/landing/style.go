package landing

import (
	"slices"

	"agentswarm/swarm/event"
)

// StyleRequest holds the flags of a command line about the commits of a merge.
type StyleRequest struct {
	Message  string   `json:"message,omitempty"`
	Trailers []string `json:"trailers,omitempty"`
	Squash   bool     `json:"squash,omitempty"`
	Author   Author   `json:"author,omitempty"` // empty: as the configuration says
}

// Lay takes the settings of another style.
func (s *StyleRequest) Lay(over StyleRequest) {
	if over.Message != "" {
		s.Message = over.Message
	}
	if over.Author != "" {
		s.Author = over.Author
	}
	s.Squash = s.Squash || over.Squash
	s.Trailers = append(s.Trailers, over.Trailers...)
}

// Recorded is the style as the journal has it; nil if it is empty.
func (s StyleRequest) Recorded() *event.CommitStyle {
	if s.Message == "" && len(s.Trailers) == 0 && !s.Squash && s.Author == "" {
		return nil
	}
	return &event.CommitStyle{Message: s.Message, Trailers: s.Trailers, Squash: s.Squash, Author: string(s.Author)}
}

// StyleOver lays a style over that of an earlier merge; nil: that had none.
func StyleOver(e *event.CommitStyle, over StyleRequest) StyleRequest {
	if e == nil {
		return over
	}
	s := StyleRequest{Message: e.Message, Trailers: slices.Clone(e.Trailers), Squash: e.Squash, Author: Author(e.Author)}
	over.Trailers = slices.DeleteFunc(slices.Clone(over.Trailers), func(t string) bool { return slices.Contains(s.Trailers, t) })
	s.Lay(over)
	return s
}
