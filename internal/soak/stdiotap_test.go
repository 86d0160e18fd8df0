package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// message has the members of a JSON-RPC message that a tap reads.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		RequestID json.RawMessage
		Reason    string
		Meta      map[string]any `json:"_meta"`
	}
}

func readMessage(text []byte) (m message, tag string) {
	_ = json.Unmarshal(text, &m) // text that is not a message has no method
	tag, _ = m.Params.Meta[peers.TagKey].(string)
	return m, tag
}

// sent records what the hub sends in a session.
func (w *witness) sent(session string, text []byte) {
	switch m, tag := readMessage(text); {
	case m.Method == "notifications/cancelled":
		w.cancelled(wireID{session, string(m.Params.RequestID)}, m.Params.Reason)
	case m.Method != "" && m.ID != nil:
		w.asked(wireID{session, string(m.ID)}, tag)
	}
}

// stdio starts a server as the hub does, with a tap between the hub and the pipes of the process.
func stdio(w *witness, env []string) func(config.Server, func(string)) mcp.Opener {
	return func(s config.Server, stderr func(string)) mcp.Opener {
		return w.tap(s.Name, mcp.Stdio(process.Command{Path: s.Command, Args: s.Args, Env: env, OnStderr: stderr}, 0))
	}
}

// tap puts a tap on each connection that is opened to a server.
func (w *witness) tap(server string, open mcp.Opener) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		link, err := open(ctx)
		if err != nil {
			return nil, err
		}
		link.Conn = &tappedConn{LineConn: link.Conn.(*jsonrpc.LineConn), witness: w,
			session: server + "#" + strconv.FormatInt(w.sessions.Add(1), 10)}
		return link, nil
	}
}

// tappedConn records each message before it is written, so that no answer is recorded before it. TryWrite records
// afterwards, when the pipe has taken a part; the rest of that message is written before any other.
type tappedConn struct {
	*jsonrpc.LineConn
	witness *witness
	session string
	parted  bool // TryWrite has written a line in part, which begins the next Write
}

func (c *tappedConn) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if !c.parted {
			c.witness.sent(c.session, bytes.TrimSpace(line))
		}
		c.parted = false
	}
	return c.LineConn.Write(lines)
}

func (c *tappedConn) TryWrite(line []byte) (int, error) {
	n, err := c.LineConn.TryWrite(line)
	if n > 0 {
		c.witness.sent(c.session, bytes.TrimSpace(line))
		c.parted = n < len(line)
	}
	return n, err
}

func (c *tappedConn) ReadMessage(results *bounds.Account) (jsonrpc.Message, error) {
	read, err := c.LineConn.ReadMessage(results)
	if err == nil {
		if m, _ := readMessage(read.Text); m.Method == "" && m.ID != nil {
			c.witness.answered(wireID{c.session, string(m.ID)})
		}
	}
	return read, err
}
