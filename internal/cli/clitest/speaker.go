package clitest

import (
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// Speaker is a command with a client that writes its lines by hand.
type Speaker struct {
	*Started
	In io.WriteCloser
}

// Say writes one line.
func (s *Speaker) Say(line string) {
	s.T.Helper()
	if _, err := io.WriteString(s.In, line+"\n"); err != nil {
		s.T.Fatal(err)
	}
}

// Leave closes the input, and returns the exit status.
func (s *Speaker) Leave() exit.Status {
	s.In.Close()
	return s.Wait()
}

// Speak does something with a command as its client, which then leaves, and returns how the command ended.
func (c *Commands) Speak(do func(s *Speaker), args ...string) (r Ended) {
	c.T.Helper()
	c.Alone(func(*testing.T) {
		read, write := io.Pipe()
		s := &Speaker{c.StartWith(read, args...), write}
		do(s)
		r = Ended{Status: s.Leave(), Stdout: s.Stdout.String(), Stderr: s.Stderr.String()}
	})
	return r
}

// RecordedDemo writes a config file with the demo server as demo, with this policy for all its tools. The server
// records what it receives.
func (s *Settings) RecordedDemo(approvals string) (file, record string) {
	record = filepath.Join(s.Folder, "record.jsonl")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"demo": map[string]any{"command": s.Binary,
		"args": []string{"demo-server", "--record", record}, "approvals": map[string]string{"*": approvals}}}})
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Config("mcp.json", string(text)), record
}
