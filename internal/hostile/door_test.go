package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw writes the text of a request to a new connection and returns the answer, with its body read to the end. If after
// is not nil, raw calls it when the text is written.
func (e *entrance) raw(t *testing.T, text string, after func(net.Conn)) (status int, header http.Header, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(e.at.URL, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(bound))
	_, _ = io.WriteString(conn, text)
	if after != nil {
		after(conn)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode, answer.Header, string(b)
}

// byHand returns the text of a request with a body. lines are its headers, except for those that describe the body.
func byHand(line, body string, lines ...string) string {
	return line + " HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + fmt.Sprintf("\r\nContent-Type: application/json\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n", len(body)) + body
}

// TestDoorOfAGateway: requests that the page of a web site could send, and requests without the token, are refused in
// every spelling. A request with a wrong method, a header that is too long, or a Last-Event-ID that was never given out
// is refused too.
func TestDoorOfAGateway(t *testing.T) {
	e := newEntrance(t)
	bearer, here := "Authorization: Bearer "+e.at.Token, "Host: 127.0.0.1"
	check := func(name string, want int, text string) {
		t.Helper()
		status, header, body := e.raw(t, text, nil)
		if status != want || header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(body, "serverInfo") &&
			want != http.StatusOK {
			t.Errorf("%s: %d %v %.200s", name, status, header, body)
		}
	}
	for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "127.1", "0x7f000001",
		"2130706433", "0.0.0.0", "[::]", "169.254.169.254", "localhost.", "evil.example:80", "127.0.0.1, evil.example",
		"127.0.0.1.", "127.000.000.001", "[fe80::1]", "localhost%00.evil.example", ""} {
		status, _, body := e.raw(t, byHand("POST /mcp", greeting, "Host: "+host, bearer), nil)
		if status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("Host %q: %d %.100s", host, status, body)
		}
	}
	for _, host := range []string{"127.0.0.1", "127.0.0.1:1", "localhost", "LOCALHOST:7777", "[::1]", "[::1]:7777",
		"127.9.9.9"} {
		check("Host "+host, http.StatusOK, byHand("POST /mcp", greeting, "Host: "+host, bearer))
	}
	check("an absolute URI", http.StatusForbidden, byHand("POST http://evil.example/mcp", greeting, here, bearer))
	check("two hosts", http.StatusBadRequest, byHand("POST /mcp", greeting, here, "Host: evil.example", bearer))
	for _, origin := range []string{"https://evil.example", "http://localhost.evil.example",
		"http://127.0.0.1.evil.example", "http://localhost@evil.example", "http://evil.example#localhost",
		"http://evil.example/localhost", "http://evil.example?localhost", "file://", "null", "chrome-extension://localhostx",
		"http:localhost", "localhost", "http://[::1].evil.example", "http://localhost:1:2", " http://evil.example", "%"} {
		check("Origin "+origin, http.StatusForbidden, byHand("POST /mcp", greeting, here, bearer, "Origin: "+origin))
	}
	check("an origin of this machine", http.StatusOK, byHand("POST /mcp", greeting, here, bearer,
		"Origin: http://localhost:3000"))
	check("two origins", http.StatusForbidden, byHand("POST /mcp", greeting, here, bearer, "Origin: http://localhost",
		"Origin: https://evil.example"))
	check("a preflight", http.StatusForbidden, byHand("OPTIONS /mcp", "", here, "Origin: https://evil.example",
		"Access-Control-Request-Method: POST"))
	for name, lines := range map[string][]string{
		"in a query": {here}, "in a cookie": {here, "Cookie: token=" + e.at.Token},
		"half of it":              {here, bearer[:len(bearer)-1]},
		"two, the first is wrong": {here, "Authorization: Bearer x", bearer}, "with more": {here, bearer + ", Bearer x"},
		"as basic": {here, "Authorization: Basic " + e.at.Token}, "for a proxy": {here, "Proxy-" + bearer}} {
		check("a token "+name, http.StatusUnauthorized, byHand("POST /mcp?token="+e.at.Token, greeting, lines...))
	}
	check("a token in capitals", http.StatusOK, byHand("POST /mcp", greeting, here, strings.Replace(bearer, "Bearer",
		"BEARER", 1)))
	check("a trace", http.StatusMethodNotAllowed, byHand("TRACE /mcp", "", here, bearer))
	check("a long header", http.StatusRequestHeaderFieldsTooLarge, byHand("POST /mcp", greeting, here, bearer,
		"X: "+strings.Repeat("x", 128<<10)))
	for _, last := range []string{"x", "1", "1-", "-1", "1-99999999999999999999", "9223372036854775807-0", "1--5", "-1-0",
		"1-0-0", "99-0", "1-999", strings.Repeat("9", 50_000) + "-1"} {
		check("Last-Event-ID "+last[:min(len(last), 30)], http.StatusBadRequest, byHand("GET /mcp", "", here, bearer,
			"Accept: text/event-stream", "Mcp-Session-Id: "+e.honest, "Last-Event-ID: "+last))
	}
	e.passerby()
}

// TestBodiesThatNeverEnd: a body that is malformed, incomplete or without an end gets no success, and a client that has
// closed its half of the connection counts as gone: its call is cancelled. Other clients are not affected.
func TestBodiesThatNeverEnd(t *testing.T) {
	e := newEntrance(t)
	head := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + e.at.Token +
		"\r\nContent-Type: application/json\r\n"
	half := func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() }
	for name, text := range map[string]string{
		"chunks without an end":     head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"jso\r\n",
		"a chunk that is none":      head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a huge chunk":              head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{",
		"less than it says":         head + "Content-Length: 1000\r\n\r\n" + greeting,
		"two lengths":               head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
		"a length and chunks":       head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/2 in plain":           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"nothing":                   "",
		"half of a header":          head[:40],
		"a header that never ends ": head + "X: " + strings.Repeat("x", 60<<10),
	} {
		if status, _, body := e.raw(t, text, half); status >= 200 && status < 300 {
			t.Errorf("%s: %d %.100s", name, status, body)
		}
	}
	var open []net.Conn
	for range 300 { // the gateway closes each of them after a minute at the latest
		c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(e.at.URL, "http://"), "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		_, _ = io.WriteString(c, head+"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"jso\r\n")
	}
	e.passerby()
	for _, c := range open {
		_ = c.Close()
	}
	modern := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__reasons","_meta":{"progressToken":1,` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	started := func(c net.Conn) { // after progress: a call cancelled earlier may never reach the server
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if strings.Contains(lines.Text(), "at work") {
				half(c)
				return
			}
		}
		t.Error("no progress of a call came")
	}
	e.raw(t, head+fmt.Sprintf("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: good__reasons\r\n"+
		"Content-Length: %d\r\n\r\n", len(modern))+modern, started)
	select {
	case reason := <-e.heard:
		if reason != "the client closed the stream" {
			t.Errorf("the server heard %q", reason)
		}
	case <-time.After(bound):
		t.Error("a call goes on whose client has closed its half of the connection")
	}
	e.passerby()
}
