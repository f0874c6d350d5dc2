package git

import (
	"context"
	"errors"
)

// BlobsRequest asks for the contents of blobs.
type BlobsRequest struct {
	IDs   []Hash
	Limit int64        // required; of all of them together, in bytes
	Take  func([]byte) // required; called for each
}

// Blobs reads blobs with a single process. It returns a [*SizeError] if they
// are longer than the limit.
func (q *Quarantine) Blobs(ctx context.Context, r BlobsRequest) (err error) {
	if len(r.IDs) == 0 {
		return nil
	}
	asked, err := q.catFile(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asked.close()) }()
	for _, id := range r.IDs {
		raw, err := asked.object(ctx, want{id: id, kind: "blob", limit: r.Limit})
		if err != nil {
			return err
		}
		r.Limit -= int64(len(raw))
		r.Take(raw)
	}
	return nil
}
