package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// speak sends a line to every control socket of the agent's run and prints the
// answers.
func speak(line string) error {
	sockets, err := controlSockets()
	if err != nil {
		return err
	}
	for _, path := range sockets {
		conn, err := net.Dial("unix", path)
		if err != nil {
			return err
		}
		_, werr := fmt.Fprintln(conn, line)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			return errors.Join(werr, err, conn.Close())
		}
		fmt.Fprint(os.Stderr, "answered: ", answer)
		if err := conn.Close(); err != nil {
			return err
		}
	}
	if len(sockets) == 0 {
		return errors.New("no socket to speak to; is the attack still one?")
	}
	return nil
}

// controlSockets are those of the agent's run.
func controlSockets() (all []string, err error) {
	uid := strconv.Itoa(os.Getuid())
	for _, dir := range []string{filepath.Join(os.Getenv("WORK"), "state/sockets"), "/tmp/swarm-" + uid, "/run/user/" + uid + "/swarm"} {
		found, err := filepath.Glob(filepath.Join(dir, os.Getenv("SWARM_RUN")+"-*.sock"))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// usurp listens in the place of the control socket of the agent's run, says
// yes to all that is asked, and stops when the file `go` is in the folder. Its
// file `up` says when it listens.
func usurp(dir string) error {
	found, err := controlSockets()
	if err != nil || len(found) != 1 {
		return fmt.Errorf("sockets %v: %w", found, err)
	}
	if err := os.Remove(found[0]); err != nil {
		return err
	}
	l, err := net.Listen("unix", found[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "up"), nil, 0o600); err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, `{"ok":true,"run":%q,"pid":1}`+"\n", os.Getenv("SWARM_RUN"))
		}
	}()
	for {
		if _, err := os.Stat(filepath.Join(dir, "go")); err == nil {
			return l.Close()
		}
		time.Sleep(10 * time.Millisecond) // a poll
	}
}

// forge changes the journal of the agent's run as rest orders. `append:JSON`
// adds a record of that type and body, with valid number and checksum. `long`
// adds a record longer than the rest of the journal. `over` overwrites a part
// of it. `swap:JSON` replaces it by a copy that ends in such a record, and
// `reword:OLD=NEW` by a copy with another text.
func forge(rest string) error {
	journals, err := filepath.Glob(filepath.Join(os.Getenv("WORK"), "state", "*", "runs", os.Getenv("SWARM_RUN"), "journal.jsonl"))
	if err != nil || len(journals) != 1 {
		return fmt.Errorf("journals %v: %w", journals, err)
	}
	text, err := os.ReadFile(journals[0])
	if err != nil {
		return err
	}
	how, record, _ := strings.Cut(rest, ":")
	if how == "long" {
		how, record = "append", fmt.Sprintf(`{"type":"closed","body":{"status":"completed","reason":%q,"code":0}}`,
			strings.Repeat("x", 64<<10))
	}
	switch how {
	case "append":
		line, err := forged(text, record)
		if err != nil {
			return err
		}
		return fakeStep("append:" + journals[0] + ":" + string(line))
	case "swap":
		line, err := forged(text, record)
		if err != nil {
			return err
		}
		if err := os.WriteFile(journals[0]+".new", append(text, line...), 0o600); err != nil {
			return err
		}
		return os.Rename(journals[0]+".new", journals[0])
	case "reword":
		from, to, _ := strings.Cut(record, "=")
		text, err := reworded(text, from, to)
		if err != nil {
			return err
		}
		if err := os.WriteFile(journals[0]+".new", text, 0o600); err != nil {
			return err
		}
		return os.Rename(journals[0]+".new", journals[0])
	case "over":
		f, err := os.OpenFile(journals[0], os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte("not yours any more"), 40)
		return errors.Join(err, f.Close())
	default:
		return fmt.Errorf("no such forgery %q", how)
	}
}

// forged is a line that follows the last line of a journal, as swarm would have
// written it.
func forged(journal []byte, record string) ([]byte, error) {
	var said struct {
		Type string          `json:"type"`
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal([]byte(record), &said); err != nil {
		return nil, fmt.Errorf("forge %s: %w", record, err)
	}
	n := bytes.Count(journal, []byte("\n")) + 1
	rest := fmt.Sprintf(`"n":%d,"t":%q,"type":%q,"body":%s}`,
		n, time.Now().UTC().Format(time.RFC3339Nano), said.Type, said.Body)
	sum := crc32.Checksum([]byte("{"+rest), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(nil, "{\"crc\":\"%08x\",%s\n", sum, rest), nil
}

// reworded is a journal in which a text was replaced, with the checksums it
// would have.
func reworded(journal []byte, from, to string) ([]byte, error) {
	const head = len(`{"crc":"00000000",`)
	if !bytes.Contains(journal, []byte(from)) {
		return nil, fmt.Errorf("the journal has no %q", from)
	}
	var out []byte
	for line := range bytes.Lines(journal) {
		if !bytes.HasPrefix(line, []byte(`{"crc":`)) || len(line) < head {
			out = append(out, line...)
			continue
		}
		rest := bytes.ReplaceAll(bytes.TrimSuffix(line[head:], []byte("\n")), []byte(from), []byte(to))
		sum := crc32.Checksum(append([]byte("{"), rest...), crc32.MakeTable(crc32.Castagnoli))
		out = fmt.Appendf(out, "{\"crc\":\"%08x\",%s\n", sum, rest)
	}
	return out, nil
}

// hostileStep is a step of an agent that means ill.
func hostileStep(verb, rest string) error {
	switch verb {
	case "speak":
		return speak(rest)
	case "usurp":
		return usurp(rest)
	case "forge":
		return forge(rest)
	}
	return errors.New("no such step")
}
