package control

import (
	"encoding/json"
	"fmt"

	"agentswarm/swarm/event"
)

const (
	// maxReview bounds the lines of a review together, in bytes.
	maxReview = 32 << 20
	// envelope is more than the bytes of a request without its marks and edits.
	envelope = 1 << 10
)

// encodeLines encodes a request as a single line, except for a [*Review] that is
// longer than a line: the server carries its parts out together.
func encodeLines(r Request, secret string) ([][]byte, error) {
	line, err := encodeRequest(r, secret)
	if err != nil {
		return nil, err
	}
	review, ok := r.(*Review)
	if len(line) <= maxLine || !ok {
		return [][]byte{line}, nil
	}
	parts, err := review.parts(maxLine - envelope)
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for _, part := range parts {
		line, err := encodeRequest(part, secret)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// parts splits a review into requests with at most room bytes of marks and edits
// each, or a single mark, edit or remark. Verdicts on edits come first.
func (r *Review) parts(room int) ([]*Review, error) {
	last, left := &Review{}, room
	all := []*Review{last}
	// begin makes room for n bytes, and reports whether that began a part.
	begin := func(n int) bool {
		full := n > left && left < room
		if full {
			last.more = true
			last, left = &Review{}, room
			all = append(all, last)
		}
		return full
	}
	for _, e := range r.Edits {
		head := e
		head.Edits = nil
		headSize, err := sizeOf(head)
		if err != nil {
			return nil, err
		}
		for i, key := range e.Edits {
			n, err := sizeOf(key)
			if err != nil {
				return nil, err
			}
			if begin(n) || i == 0 {
				begin(headSize + n)
				last.Edits = append(last.Edits, head)
				left -= headSize
			}
			open := &last.Edits[len(last.Edits)-1]
			open.Edits = append(open.Edits, key)
			left -= n
		}
	}
	for _, mark := range r.Marks {
		n, err := sizeOf(mark)
		if err != nil {
			return nil, err
		}
		begin(n)
		last.Marks = append(last.Marks, mark)
		left -= n
	}
	for _, remark := range r.Remarks {
		n, err := sizeOf(remark)
		if err != nil {
			return nil, err
		}
		begin(n)
		last.Remarks = append(last.Remarks, remark)
		left -= n
	}
	return all, nil
}

// sizeOf is the size of a value in a list, in bytes.
func sizeOf(v any) (int, error) {
	text, err := json.Marshal(v)
	return len(text) + len(","), err
}

// draft collects the parts of a review that a peer sends.
type draft struct {
	review Review
	size   int // of the lines, in bytes
}

// open reports whether parts are still to come.
func (d *draft) open() bool { return d.size > 0 }

// add takes a request of size bytes, and returns the request to carry out; nil while
// parts are still to come.
func (d *draft) add(r Request, size int) (Request, error) {
	part, ok := r.(*Review)
	switch {
	case !ok && d.open():
		return nil, fmt.Errorf("%s: the rest of a review is missing", r.verb())
	case !ok || !part.more && !d.open():
		return r, nil
	case d.size+size > maxReview:
		return nil, fmt.Errorf("a review has at most %d bytes", maxReview)
	}
	d.size += size
	d.join(part)
	if part.more {
		return nil, nil
	}
	whole := d.review
	*d = draft{}
	return &whole, nil
}

// join appends a part. A verdict that was split becomes a single record again.
func (d *draft) join(part *Review) {
	edits, all := part.Edits, d.review.Edits
	if n := len(all); n > 0 && len(edits) > 0 && continues(&all[n-1], &edits[0]) {
		all[n-1].Edits = append(all[n-1].Edits, edits[0].Edits...)
		edits = edits[1:]
	}
	d.review.Edits = append(all, edits...)
	d.review.Marks = append(d.review.Marks, part.Marks...)
	d.review.Remarks = append(d.review.Remarks, part.Remarks...)
}

func continues(a, b *event.EditsReviewed) bool {
	return a.Agent == b.Agent && a.Attempt == b.Attempt && a.Verdict == b.Verdict && a.Reason == b.Reason
}
