package modeltest

import "maps"

func (d responses) stream(s *stream, _ *conversation, a *answer) {
	e := &responsesEvents{s: s}
	e.send("response.created", map[string]any{"response": d.response(a, "in_progress")})
	e.send("response.in_progress", map[string]any{"response": d.response(a, "in_progress")})
	for at, item := range d.items(a) {
		e.at, e.id = at, item["id"]
		switch item["type"] {
		case "reasoning":
			e.reasoning(item, a.thinking)
		case "message":
			e.message(item, a.text)
		case "function_call":
			e.call(item, "arguments", "response.function_call_arguments")
		case "custom_tool_call":
			e.call(item, "input", "response.custom_tool_call_input")
		}
	}
	event, is := d.ended(a)
	e.send(event, map[string]any{"response": is})
}

// responsesEvents numbers the events of a stream.
type responsesEvents struct {
	s  *stream
	at int // the item
	id any // its id
}

func (e *responsesEvents) stamp(event string, data map[string]any) map[string]any {
	data["type"], data["sequence_number"] = event, e.s.sent
	return data
}

func (e *responsesEvents) send(event string, data map[string]any) {
	e.s.send(event, e.stamp(event, data))
}

// within is an event of the item; a piece of it where delta is not empty.
func (e *responsesEvents) within(event string, data map[string]any) {
	data["item_id"], data["output_index"] = e.id, e.at
	if _, is := data["delta"]; is {
		e.s.piece(event, e.stamp(event, data))
		return
	}
	e.send(event, data)
}

func (e *responsesEvents) begin(item map[string]any, empty string, value any) {
	begun := maps.Clone(item)
	begun[empty] = value
	if _, has := begun["status"]; has {
		begun["status"] = "in_progress"
	}
	e.send("response.output_item.added", map[string]any{"output_index": e.at, "item": begun})
}

func (e *responsesEvents) end(item map[string]any) {
	e.send("response.output_item.done", map[string]any{"output_index": e.at, "item": item})
}

func (e *responsesEvents) reasoning(item map[string]any, text string) {
	e.begin(item, "summary", []any{})
	part := func(text string) map[string]any { return map[string]any{"type": "summary_text", "text": text} }
	e.within("response.reasoning_summary_part.added", map[string]any{"summary_index": 0, "part": part("")})
	e.within("response.reasoning_summary_text.delta", map[string]any{"summary_index": 0, "delta": text})
	e.within("response.reasoning_summary_text.done", map[string]any{"summary_index": 0, "text": text})
	e.within("response.reasoning_summary_part.done", map[string]any{"summary_index": 0, "part": part(text)})
	e.end(item)
}

func (e *responsesEvents) message(item map[string]any, pieces []string) {
	e.begin(item, "content", []any{})
	all := ""
	part := func() map[string]any {
		return map[string]any{"type": "output_text", "text": all, "annotations": []any{}}
	}
	e.within("response.content_part.added", map[string]any{"content_index": 0, "part": part()})
	for _, piece := range pieces {
		all += piece
		e.within("response.output_text.delta", map[string]any{"content_index": 0, "delta": piece, "logprobs": []any{}})
	}
	e.within("response.output_text.done", map[string]any{"content_index": 0, "text": all, "logprobs": []any{}})
	e.within("response.content_part.done", map[string]any{"content_index": 0, "part": part()})
	e.end(item)
}

func (e *responsesEvents) call(item map[string]any, field, event string) {
	e.begin(item, field, "")
	text, _ := item[field].(string)
	for _, piece := range halves(text) {
		e.within(event+".delta", map[string]any{"delta": piece})
	}
	e.within(event+".done", map[string]any{field: text})
	e.end(item)
}
