package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const callResult = `{"content":[{"type":"text","text":"ok"}]}`

// TestHTTPUnknownMethod: the 404 of a modern server with -32601 in it is the answer to one request.
func TestHTTPUnknownMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newExchanges(modernServer(func(f *exchanges, m transport.Message) {
			f.refuse(m.ID, jsonrpc.CodeMethodNotFound, "")
		}))
		s := mustDial(t, f, &recorder{})
		for range 2 {
			_, err := s.CallTool(context.Background(), &CallRequest{Name: "t"})
			if e := rpcError(err); e == nil || e.Code != jsonrpc.CodeMethodNotFound {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestHTTPSessionExpired: calls in flight fail with what is known about them, the session ends with a clear error, and
// later calls fail at once.
func TestHTTPSessionExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newExchanges(legacyServer(silent))
		s := mustDial(t, f, &recorder{})
		out := begin(context.Background(), s, &CallRequest{Name: "told"})
		untold := begin(context.Background(), s, &CallRequest{Name: "untold"})
		synctest.Wait()
		f.fail("3", &transport.HTTPError{Text: "the session ended before the answer came", Delivery: transport.MayHaveRun,
			Err: transport.ErrSessionExpired})
		f.die(transport.ErrSessionExpired)
		var failed *transport.HTTPError
		results := []outcome{finished(t, out), finished(t, untold)}
		told := 0
		for _, o := range results {
			switch {
			case errors.As(o.err, &failed) && failed.Delivery == transport.MayHaveRun:
				told++
			case !errors.Is(o.err, jsonrpc.ErrClosed):
				t.Errorf("got %v", o.err)
			}
			if !errors.Is(o.err, transport.ErrSessionExpired) {
				t.Errorf("%v does not tell of the session", o.err)
			}
		}
		if told != 1 {
			t.Errorf("%d calls were told of their delivery", told)
		}
		<-s.Done()
		var ended *EndedError
		if err := s.Err(); !errors.As(err, &ended) || !errors.Is(err, transport.ErrSessionExpired) ||
			!strings.Contains(err.Error(), "ended the session") {
			t.Errorf("Err: %v", err)
		}
		_, err := s.CallTool(context.Background(), &CallRequest{Name: "t"})
		if !errors.Is(err, jsonrpc.ErrClosed) || !errors.As(err, &failed) || failed.Delivery != transport.NotSent {
			t.Errorf("a later call got %v", err)
		}
	})
}

// TestHTTPPingGivenUp: a ping of a modern server is a server/discover, which is never cancelled; its exchange is
// aborted all the same.
func TestHTTPPingGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probed := false
		f := newExchanges(func(f *exchanges, m transport.Message) {
			if !probed {
				probed = true
				f.result(m.ID, modernDiscover)
			}
		})
		s := mustDial(t, f, &recorder{})
		ctx, stop := context.WithTimeoutCause(context.Background(), time.Second, errors.New("no sign of life"))
		defer stop()
		if err := s.Ping(ctx); err == nil {
			t.Error("a ping without an answer")
		}
		wantLines(t, "the wire", f.lines(), "POST 2 server/discover", "abort 2")
	})
}

// TestHTTPListenTeardown: however the listen stream ends, it is opened again; Close aborts the exchange of an open one.
func TestHTTPListenTeardown(t *testing.T) {
	ends := map[string]func(*exchanges, string){
		"result": func(f *exchanges, id string) { f.result(id, `{"resultType":"complete"}`) },
		"error":  func(f *exchanges, id string) { f.refuse(id, -32603, "") },
		"notification": func(f *exchanges, id string) {
			f.say(id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
		},
		"stream closed": func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Text: "the stream ended", Delivery: transport.MayHaveRun})
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opened := 0
				f := newExchanges(func(f *exchanges, m transport.Message) {
					switch m.Method {
					case protocol.MethodDiscover:
						f.result(m.ID, strings.Replace(modernDiscover, `"tools":{}`, `"tools":{"listChanged":true}`, 1))
					case protocol.MethodListen:
						if opened++; opened == 1 {
							end(f, m.ID)
						}
					}
				})
				h := &recorder{}
				s := mustDial(t, f, h)
				pass(10 * time.Second)
				synctest.Wait()
				if opened != 2 {
					t.Errorf("the stream was opened %d times", opened)
				}
				s.Close(nil)
				got := f.lines()
				wantLines(t, "the wire", got[max(0, len(got)-2):], "abort 3", "close")
			})
		})
	}
}

// TestHTTPToolHeaders: arguments that a tool marks with x-mcp-header are sent as headers, in the modern era only.
func TestHTTPToolHeaders(t *testing.T) {
	tools := `{"tools":[{"name":"where","inputSchema":{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"count":{"type":"integer","x-mcp-header":"Count"},
		"dry":{"type":["boolean","null"],"x-mcp-header":"Dry-Run"},
		"x-mcp-header":{"type":"string","description":"a property of that name"},
		"in":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}},
		"text":{"type":"string","default":{"x-mcp-header":"data"}}}}}]}`
	for name, c := range map[string]struct{ arguments, headers string }{
		"all": {`{"region":"eu west","count":-7,"dry":true,"in":{"zone":"ü"},"text":"t","x-mcp-header":"v"}`,
			` Count="-7" Dry-Run="true" Region="eu west" Zone="ü"`},
		"null, absent": {`{"region":null,"in":{}}`, ``},
		"of no object": {`{"region":"a","in":"zone"}`, ` Region="a"`},
		"spellings":    {`{"region":"\u0061\n","count":4.2e1,"dry":false}`, ` Count="42" Dry-Run="false" Region="a\n"`},
		"wrong types":  {`{"region":{"a":1},"count":1.5,"dry":[]}`, ``},
		"large":        {`{"count":123456789012345678901234567890}`, ` Count="123456789012345678901234567890"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serve := func(f *exchanges, m transport.Message) {
					if m.Method == protocol.MethodListTools {
						f.result(m.ID, tools)
						return
					}
					f.result(m.ID, callResult)
				}
				for era, server := range map[string]func(*exchanges, transport.Message){"legacy": legacyServer(serve),
					"modern": modernServer(serve)} {
					f := newExchanges(server)
					s := mustDial(t, f, &recorder{})
					list, err := s.ListTools(context.Background())
					if err != nil || len(list) != 1 {
						t.Fatalf("%d tools, %v", len(list), err)
					}
					f.lines()
					if _, err := s.CallTool(context.Background(), &CallRequest{Name: "where",
						Arguments: json.RawMessage(c.arguments)}); err != nil {
						t.Fatal(err)
					}
					want := "POST 4 tools/call"
					if era == "modern" {
						want = "POST 3 tools/call where" + c.headers
					}
					wantLines(t, era, f.lines(), want)
				}
			})
		})
	}
}

// TestHTTPRequestNames: Mcp-Name of each method that has one, from the message itself.
func TestHTTPRequestNames(t *testing.T) {
	for _, c := range [][3]string{
		{"tools/call", `{"arguments":{"name":"inner"},"name":"tool é"}`, "tool é"},
		{"prompts/get", `{"name":"p"}`, "p"},
		{"resources/read", `{"uri":"file:///a b","name":"no"}`, "file:///a b"},
		{"tasks/get", `{"taskId":"t1"}`, "t1"},
		{"tasks/update", `{"taskId":"t1"}`, "t1"},
		{"tasks/cancel", `{"taskId":"t1"}`, "t1"},
		{"tools/list", `{"name":"x","uri":"y","taskId":"z"}`, ""},
		{"tools/call", `{"name":7}`, ""},
	} {
		if got := requestName(c[0], []byte(`{"jsonrpc":"2.0","id":1,"method":"`+c[0]+`","params":`+c[1]+`}`)); got != c[2] {
			t.Errorf("%s %s: %q", c[0], c[1], got)
		}
	}
}

// TestHTTPInvalidToolHeaders: a tool whose annotation breaks a rule is left out and named in a warning, and the others
// stay.
func TestHTTPInvalidToolHeaders(t *testing.T) {
	deep := func(begin, end string) string {
		return strings.Repeat(begin, 200) + `{"type":"string","x-mcp-header":"A"}` + strings.Repeat(end, 200)
	}
	for name, c := range map[string]struct{ schema, fault string }{
		"empty":       {`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, `at "a" is no name`},
		"no string":   {`{"properties":{"a":{"type":"string","x-mcp-header":true}}}`, `at "a" is no name`},
		"blank in it": {`{"properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}`, `is no name`},
		"colon":       {`{"properties":{"a":{"type":"string","x-mcp-header":"A:B"}}}`, `is no name`},
		"line end":    {`{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}`, `is no name`},
		"not ASCII":   {`{"properties":{"a":{"type":"string","x-mcp-header":"Ré"}}}`, `is no name`},
		"number":      {`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `stands at a type`},
		"object":      {`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, `stands at a type`},
		"array":       {`{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}`, `stands at a type`},
		"two types":   {`{"properties":{"a":{"type":["string","integer"],"x-mcp-header":"A"}}}`, `stands at a type`},
		"no type":     {`{"properties":{"a":{"x-mcp-header":"A"}}}`, `stands at a type`},
		"twice":       {`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"a"}}}}}`, `repeats a name`},
		"at the root": {`{"type":"string","x-mcp-header":"A"}`, `is not reached`},
		"in items": {`{"properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}`,
			`at "a.b" is not reached`},
		"in anyOf":             {`{"anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}`, `is not reached`},
		"in $defs":             {`{"$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}`, `is not reached`},
		"in then":              {`{"then":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}`, `is not reached`},
		"additionalProperties": {`{"additionalProperties":{"type":"string","x-mcp-header":"A"}}`, `is not reached`},
		"escaped":              {`{"properties":{"a":{"type":"string","\u0078-mcp-header":""}}}`, `is no name`},
		"too deep":             {deep(`{"properties":{"a":`, `}}`), `too deep`},
		"too deep in $defs":    {deep(`{"$defs":{"a":`, `}}`), `too deep`},
		"too deep in items":    {deep(`{"items":`, `}`), `too deep`},
		"too deep in anyOf":    {deep(`{"anyOf":[`, `]}`), `too deep`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(modernServer(func(f *exchanges, m transport.Message) {
					f.result(m.ID, `{"tools":[{"name":"bad","inputSchema":`+c.schema+`},{"name":"good","inputSchema":{}}]}`)
				}))
				var logged logLines
				s := mustDial(t, f, &recorder{}, func(o *Options) { o.Logger = logged.logger() })
				list, err := s.ListTools(context.Background())
				if err != nil || len(list) != 1 || list[0].Name != "good" {
					t.Fatalf("%+v, %v", list, err)
				}
				text := strings.ReplaceAll(logged.String(), `\"`, `"`)
				if !strings.Contains(text, `level=WARN`) || !strings.Contains(text, `tool "bad": x-mcp-header`) ||
					!strings.Contains(text, c.fault) {
					t.Errorf("logged %s", text)
				}
			})
		})
	}
}

// TestInvalidToolHeadersOverStdio: without HTTP there are no headers, so a wrong annotation leaves out no tool.
func TestInvalidToolHeadersOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.ToolWith(`{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}}`,
			func(c *fakeserver.CallContext) { c.Text("ran") })
		s := connect(t, f, &recorder{})
		list, err := s.ListTools(background)
		if err != nil || len(list) != 1 {
			t.Errorf("listed %+v, %v", list, err)
		}
	})
}

// TestHTTPHeaderMismatchRefreshes: if a call is refused for its headers, the tool's definition is fetched anew. If that
// changes the headers, the call is sent once more. A call that stays refused returns the error.
func TestHTTPHeaderMismatchRefreshes(t *testing.T) {
	for name, c := range map[string]struct {
		header string // the header that the tool asks for now; "" for none
		lines  []string
		failed bool
	}{
		"wants another": {"Region", []string{"POST 2 tools/call where", "POST 3 tools/list",
			`POST 4 tools/call where Region="eu"`}, false},
		"wants the same": {"", []string{"POST 2 tools/call where", "POST 3 tools/list"}, true},
		"never content": {"Zone", []string{"POST 2 tools/call where", "POST 3 tools/list",
			`POST 4 tools/call where Zone="eu"`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(modernServer(func(f *exchanges, m transport.Message) {
					switch {
					case m.Method == protocol.MethodListTools && c.header == "":
						f.result(m.ID, `{"tools":[{"name":"where","inputSchema":{}}]}`)
					case m.Method == protocol.MethodListTools:
						f.result(m.ID, `{"tools":[{"name":"where","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"`+
							c.header+`"}}}}]}`)
					case m.Params["Region"] == "eu" && string(argumentsOf(m)) == `{"r":"eu"}`:
						f.result(m.ID, callResult)
					default:
						f.refuse(m.ID, protocol.CodeHeaderMismatch, "")
					}
				}))
				s := mustDial(t, f, &recorder{})
				got, err := s.CallTool(context.Background(), &CallRequest{Name: "where", Arguments: json.RawMessage(`{"r":"eu"}`)})
				wantLines(t, "the wire", f.lines(), c.lines...)
				if c.failed {
					if e := rpcError(err); e == nil || e.Code != protocol.CodeHeaderMismatch {
						t.Errorf("got %v", err)
					}
				} else if err != nil || string(got.Raw) != callResult {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		})
	}
}

// TestHTTPHeaderMismatchOfFreshList: a list is fetched again before its ttlMs is over, when a header mismatch shows
// that it is stale.
func TestHTTPHeaderMismatchOfFreshList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		header := "Zone"
		f := newExchanges(modernServer(func(f *exchanges, m transport.Message) {
			switch {
			case m.Method == protocol.MethodListTools:
				f.result(m.ID,
					`{"resultType":"complete","ttlMs":3600000,"cacheScope":"private","tools":[{"name":"where","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"`+header+`"}}}}]}`)
			case m.Params[header] == "eu":
				f.result(m.ID, callResult)
			default:
				f.refuse(m.ID, protocol.CodeHeaderMismatch, "")
			}
		}))
		s := mustDial(t, f, &recorder{})
		if tools, err := s.ListTools(context.Background()); err != nil || len(tools) != 1 {
			t.Fatalf("%+v, %v", tools, err)
		}
		header = "Region"
		_, err := s.CallTool(context.Background(), &CallRequest{Name: "where", Arguments: json.RawMessage(`{"r":"eu"}`)})
		if err != nil {
			t.Error(err)
		}
		wantLines(t, "the wire", f.lines(), "POST 2 tools/list", `POST 3 tools/call where Zone="eu"`, "POST 4 tools/list",
			`POST 5 tools/call where Region="eu"`)
	})
}
