package store

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"

	"agentswarm/swarm/event"
)

// A line of the journal is a record's JSON with an additional first member: the
// CRC-32C of the line without that member.
const (
	crcHead = `{"crc":"`
	crcTail = `",`
	crcLen  = len(crcHead) + 8 + len(crcTail)
)

// appendLine adds a record to text as a line of the journal.
func appendLine(text []byte, r event.Record) ([]byte, error) {
	body, err := event.Marshal(r)
	if err != nil {
		return text, err
	}
	text = fmt.Appendf(text, "%s%08x%s", crcHead, checksum(body), crcTail)
	text = append(text, body[1:]...)
	return append(text, '\n'), nil
}

// bareLine checks the checksum of a line and removes it. It returns false for a
// line that was not completely written.
func bareLine(line []byte) ([]byte, bool) {
	if len(line) < crcLen || !bytes.HasPrefix(line, []byte(crcHead)) ||
		!bytes.Equal(line[crcLen-len(crcTail):crcLen], []byte(crcTail)) {
		return nil, false
	}
	digits := line[len(crcHead) : len(crcHead)+8]
	body := append([]byte{'{'}, line[crcLen:]...)
	// Compared as text: only the spelling that appendLine uses is right.
	var sum [4]byte
	if _, err := hex.Decode(sum[:], digits); err != nil {
		return nil, false
	}
	return body, fmt.Sprintf("%08x", checksum(body)) == string(digits)
}

func checksum(text []byte) uint32 {
	return crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
}

// CorruptError is a line of a journal that differs from the written line.
type CorruptError struct {
	File   string
	Line   int64 // from 1
	Record int64 // the record that should be there
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: line %d (record %d): %s", e.File, e.Line, e.Record, e.Reason)
}

// reader turns a journal's bytes into records, in order.
type reader struct {
	file string
	last int64 // the number of the last record read
}

// read decodes the whole lines of text and says how many bytes they take.
// It does not consume text after the last good line: a line without its end, or
// a last line whose checksum is wrong, may have been torn by a crash or may
// still be on its way. Anything else that is wrong is an error.
func (rd *reader) read(text []byte) (records []event.Record, used int, err error) {
	for {
		end := bytes.IndexByte(text[used:], '\n')
		if end < 0 {
			return records, used, nil
		}
		line, next := text[used:used+end], used+end+1
		body, ok := bareLine(line)
		if !ok {
			if next == len(text) {
				return records, used, nil
			}
			return records, used, rd.corrupt("its checksum does not match")
		}
		r, err := event.Unmarshal(body)
		if err != nil {
			return records, used, rd.corrupt(err.Error())
		}
		if r.N != rd.last+1 {
			return records, used, rd.corrupt(fmt.Sprintf("it holds record %d", r.N))
		}
		rd.last, used = r.N, next
		records = append(records, r)
	}
}

// corrupt returns the error for the next line: every record is a line.
func (rd *reader) corrupt(reason string) error {
	return &CorruptError{File: rd.file, Line: rd.last + 1, Record: rd.last + 1, Reason: reason}
}

// Records reads all records of the run. A last line that is not whole, or not
// yet, is left out.
func (r *Run) Records() ([]event.Record, error) {
	text, err := r.readFile(r.Journal())
	if err != nil {
		return nil, fmt.Errorf("read journal of run %s: %w", r.ID, err)
	}
	rd := reader{file: r.Journal()}
	records, _, err := rd.read(text)
	return records, err
}
