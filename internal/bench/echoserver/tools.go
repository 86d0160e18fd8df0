package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// message holds the members of a message that other reads.
type message struct {
	Method string `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Count     int `json:"count"`
			PerSecond int `json:"perSecond"`
		} `json:"arguments"`
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

const toolList = `{"tools":[` +
	`{"name":"echo","description":"Answers at once.","inputSchema":{"type":"object"}},` +
	`{"name":"large","description":"Answers count bytes of text.","inputSchema":{"type":"object"}},` +
	`{"name":"hang","description":"Never answers.","inputSchema":{"type":"object"}},` +
	`{"name":"storm","description":"Sends progress.","inputSchema":{"type":"object"}}]}`

// other answers every message that is not a call of echo. s.mu is held.
func (s *server) other(id, line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return
	}
	switch m.Method {
	case "": // an answer, or what is no message
	case "initialize":
		s.result(id,
			`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echoserver","version":"1"}}`)
	case "ping":
		s.result(id, `{}`)
	case "tools/list":
		s.result(id, toolList)
	case "tools/call":
		id := string(id)
		switch m.Params.Name {
		case "hang":
		case "large":
			s.result([]byte(id), `{"content":[{"type":"text","text":"`+strings.Repeat("x", m.Params.Arguments.Count)+
				`"}],"isError":false}`)
		case "storm":
			s.running.Go(func() { s.storm(id, m) })
		}
	default:
		if id != nil {
			fmt.Fprintf(s.out, `%s%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", head, id)
		}
	}
}

func (s *server) result(id []byte, result string) {
	fmt.Fprintf(s.out, `%s%s,"result":%s}`+"\n", head, id, result)
}

// storm sends count progress notifications, perSecond of them in a second, and then answers. After a late tick it sends
// the missed ones as well.
func (s *server) storm(id string, m message) {
	a := m.Params.Arguments
	tick := time.NewTicker(max(time.Second/time.Duration(max(a.PerSecond, 1)), time.Millisecond))
	defer tick.Stop()
	start := time.Now()
	for sent := 0; sent < a.Count; {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		due := min(a.Count, int(time.Since(start).Seconds()*float64(a.PerSecond)))
		for ; sent < due; sent++ {
			s.send(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"step %d of the storm"}}`,
				m.Params.Meta.ProgressToken, sent+1, a.Count, sent+1)
		}
	}
	s.send(head+`%s,"result":{"content":[],"isError":false}}`, id)
}
