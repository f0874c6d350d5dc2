package thought

// line collects the facts about a line that may carry a piece of a model's
// text. Programs print such pieces as they come:
//
//	claude, qwen  {"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"…"}}}
//	pi            {"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"…"}}
//	codex         {"method":"item/agentMessage/delta","params":{"itemId":"…","delta":"…"}}
//	copilot       {"type":"assistant.message_delta","data":{"messageId":"…","deltaContent":"…"}}
//	gemini        {"type":"message","role":"assistant","content":"…","delta":true}
type line struct {
	kind, role, method string
	parent, item       string
	event, delta       string // their types

	piece Span // the place of a possible piece; empty: nowhere
	path  string
	own   []cut  // the thoughts in it if it is a whole text
	raw   []byte // of the piece, as it stands
	long  bool   // it is longer than any that is read
}

// maxPiece bounds a piece. No longer line is read.
const maxPiece = 2 << 20

// carries reports whether pieces stand by a path.
func carries(path string) bool {
	switch path {
	case "content", "event.delta.text", "assistantMessageEvent.delta", "params.delta", "data.deltaContent":
		return true
	}
	return false
}

// note takes a string that stands by a path.
func (l *line) note(path, value string) {
	switch path {
	case "type":
		l.kind = value
	case "role":
		l.role = value
	case "method":
		l.method = value
	case "parent_tool_use_id":
		l.parent = value
	case "params.itemId", "params.item.id", "data.messageId":
		l.item = value
	case "event.type", "assistantMessageEvent.type":
		l.event = value
	case "event.delta.type":
		l.delta = value
	}
}

// keep keeps a byte of a piece.
func (l *line) keep(b byte) {
	if l.long = len(l.raw) == maxPiece; !l.long {
		l.raw = append(l.raw, b)
	}
}

// says reports whether the line carries a piece of a text, and of which.
func (l *line) says() (text string, is bool) {
	path := ""
	switch {
	case l.kind == "message" && l.role == "assistant":
		path = "content"
	case l.kind == "stream_event" && l.event == "content_block_delta" && l.delta == "text_delta":
		text, path = l.parent, "event.delta.text"
	case l.kind == "message_update" && l.event == "text_delta":
		path = "assistantMessageEvent.delta"
	case l.method == "item/agentMessage/delta":
		text, path = l.item, "params.delta"
	case l.kind == "assistant.message_delta":
		text, path = l.item, "data.deltaContent"
	}
	return text, path != "" && l.path == path
}

// ends reports whether the line says that a text is whole, and which.
func (l *line) ends() (text string, is bool) {
	switch l.kind {
	case "stream_event":
		switch l.event {
		case "message_start", "message_stop", "content_block_start", "content_block_stop":
			return l.parent, true
		}
	case "message_update":
		return "", l.event != "text_delta"
	case "tool_use", "tool_result", "result": // of gemini
		return "", true
	}
	return l.item, l.method == "item/completed" || l.kind == "assistant.message"
}

// pieces are texts that come in pieces.
type pieces struct{ texts map[string]*joined }

// maxTexts bounds the texts that come at once.
const maxTexts = 256

// take takes a line. If the line has a whole text in the place of a piece, it
// returns the thoughts in it.
func (p *pieces) take(l *line, blank func(Span)) []cut {
	if text, ends := l.ends(); ends && p.texts[text] != nil {
		p.texts[text].end(blank)
		delete(p.texts, text)
	}
	text, is := l.says()
	switch {
	case l.piece.To == 0:
		return nil
	case l.long, !is && l.path == "content":
		return l.own
	case !is: // a piece of something else
		return nil
	}
	if p.texts[text] == nil {
		if p.texts == nil || len(p.texts) == maxTexts {
			p.end(blank)
			p.texts = map[string]*joined{}
		}
		p.texts[text] = &joined{}
	}
	p.texts[text].add(l.raw, l.piece, blank)
	return nil
}

// end ends all texts.
func (p *pieces) end(blank func(Span)) {
	for _, t := range p.texts {
		t.end(blank)
	}
	p.texts = nil
}

// joined is a text that comes in pieces, and where those stand that may turn
// out to be a thought.
type joined struct {
	finder
	held []Span
}

// add adds a piece.
func (j *joined) add(raw []byte, at Span, blank func(Span)) {
	var l letters
	for i, b := range raw {
		if c, from, whole := l.next(b, at.From+int64(i)); whole {
			j.finder.take(c, from, at.From+int64(i)+1)
		}
	}
	j.held = append(j.held, at)
	j.settle(blank)
}

// settle blanks the known thoughts, and holds the pieces that may become
// thoughts.
func (j *joined) settle(blank func(Span)) {
	thoughts := j.found
	if j.stage == within { // except a possible part of its end mark
		open := Span{j.from, nowhere}
		if j.matched > 0 {
			open.To = j.ends
		}
		thoughts = append(thoughts, cut{Span: open})
	}
	held := j.held // both stand in the order of the file
	for _, c := range thoughts {
		for len(held) > 0 && held[0].To <= c.From {
			held = held[1:]
		}
		for _, piece := range held {
			if piece.From >= c.To {
				break
			}
			blank(Span{max(piece.From, c.From), min(piece.To, c.To)})
		}
	}
	j.found = j.found[:0]
	switch {
	case j.stage == looking, j.stage == opening && !j.after, j.stage == within && j.matched > 0:
		if len(j.held) < maxSpans {
			return
		}
	}
	j.held = j.held[:0]
}

// end ends the text.
func (j *joined) end(blank func(Span)) {
	j.finder.end()
	j.settle(blank)
}
