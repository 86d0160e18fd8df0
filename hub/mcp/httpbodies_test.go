package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// TestHTTPProbeBodies: over the real transport, the body decides what a status with two meanings means.
func TestHTTPProbeBodies(t *testing.T) {
	const (
		asJSON = "application/json"
		asHTML = "text/html"
	)
	refusal := func(id string, code string, data string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"no"` + data + `}}`
	}
	for name, c := range map[string]struct {
		status     int
		kind, body string
		era        Era    // 0: the start fails
		fault      string // of a start that fails
	}{
		// initialize is the last resort, after one more server/discover
		"400, the version, modern ones": {400, asJSON, refusal("ID", "-32022", `,"data":{"supported":["2026-07-28"]}`),
			Legacy, ""},
		"400, the version, legacy ones": {400, asJSON, refusal("ID", "-32022", `,"data":{"supported":["2025-06-18"]}`),
			Legacy, ""},
		"400, the headers":              {400, asJSON, refusal("ID", "-32020", ""), 0, "-32020"},
		"400, a capability":             {400, asJSON, refusal("ID", "-32021", ""), 0, "-32021"},
		"400, the headers, for no id":   {400, asJSON, refusal("null", "-32020", ""), 0, "-32020"},
		"400, an error of no era":       {400, asJSON, refusal("null", "-32000", ""), Legacy, ""},
		"400, empty":                    {400, asJSON, "", Legacy, ""},
		"400, a page":                   {400, asHTML, "<html>bad request</html>", Legacy, ""},
		"400, JSON of another kind":     {400, asJSON, `{"message":"-32020"}`, Legacy, ""},
		"404, no such method":           {404, asJSON, refusal("ID", "-32601", ""), Legacy, ""},
		"404, a page":                   {404, asHTML, "<html>not found</html>", Legacy, ""},
		"405":                           {405, "text/plain", "Method Not Allowed", Legacy, ""},
		"200, a page":                   {200, asHTML, "<html>welcome</html>", Legacy, ""},
		"200, nothing":                  {200, asJSON, "", Legacy, ""},
		"200, half an answer":           {200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{`, Legacy, ""},
		"202, as for a notification":    {202, "", "", Legacy, ""},
		"401 with a modern error in it": {401, asJSON, refusal("ID", "-32020", ""), 0, "401"},
		"403":                           {403, "text/plain", "no", 0, "403"},
		"500":                           {500, "text/plain", "trouble", Legacy, ""},
		"302 to another place, whose page it is not": {302, "", "", Legacy, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var methods []string // used by one goroutine after the other
				s, err := Connect(context.Background(), Options{Server: "web", Handler: &recorder{},
					Open: HTTP(transport.HTTPOptions{
						URL: "https://mcp.example/", RoundTripper: handle(func(_ *http.Request, body []byte) *http.Response {
							if len(body) == 0 {
								return answer(http.StatusMethodNotAllowed, "", "") // no standalone stream, and no session to end
							}
							method, id := stringOf(member(body, "method")), string(member(body, "id"))
							methods = append(methods, method)
							switch method {
							case protocol.MethodDiscover:
								return answer(c.status, c.kind, strings.ReplaceAll(c.body, "ID", id))
							case protocol.MethodInitialize:
								return answer(http.StatusOK, asJSON, `{"jsonrpc":"2.0","id":`+id+`,"result":`+legacyAnswer+`}`)
							}
							return answer(http.StatusAccepted, "", "")
						}),
					})})
				if c.era != 0 {
					if err != nil || s.Era() != c.era {
						t.Fatalf("got %v", err)
					}
					synctest.Wait()
					s.Close(nil)
					if c.status == 400 && strings.Contains(c.body, "2026-07-28") {
						methods = methods[1:]
					}
					wantLines(t, "requests", methods, protocol.MethodDiscover, protocol.MethodInitialize, protocol.MethodInitialized)
					return
				}
				var failed *StartError
				if err == nil {
					defer s.Close(nil)
				}
				if !errors.As(err, &failed) || failed.Stage != protocol.MethodDiscover || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("got %v", err)
				}
				for _, m := range methods {
					if m != protocol.MethodDiscover {
						t.Errorf("%s was sent", m)
					}
				}
			})
		})
	}
}

// FuzzParamHeaders: any schema is read without a panic, and the headers that are found keep the rules.
func FuzzParamHeaders(f *testing.F) {
	for _, seed := range []string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`,
		`{"properties":{"a":{"properties":{"b":{"type":"integer","x-mcp-header":"B"}}}}}`,
		`{"anyOf":[{"x-mcp-header":"A"}]}`, `{"x-mcp-header":`, `[]`, `null`, `{"properties":[{"x-mcp-header":"A"}]}`,
		`"x-mcp-header"`, `{"properties":{"a":true}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		if !isObject([]byte(schema)) {
			return // jsonrpc lets nothing else through
		}
		found, err := readParamHeaders([]byte(schema))
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, h := range found {
			if lower := strings.ToLower(h.name); !isToken(h.name) || names[lower] || len(h.path) == 0 {
				t.Errorf("%q at %q", h.name, h.path)
			} else {
				names[lower] = true
			}
		}
	})
}
