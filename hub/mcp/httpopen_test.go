package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// handle is an http.RoundTripper without a network: what it returns is the answer.
type handle func(req *http.Request, body []byte) *http.Response

func (h handle) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body.Close()
	}
	resp := h(req, body)
	resp.Request = req
	return resp, nil
}

func answer(status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
	}
}

// doorman is an Authorizer whose sign-in takes a while.
type doorman struct {
	takes time.Duration
	err   error

	mu    sync.Mutex // guards what follows
	token bool
	asked int
}

func (d *doorman) Sign(_ context.Context, req *http.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token {
		req.Header.Set("Authorization", "Bearer t")
	}
	return nil
}

func (d *doorman) Authorize(ctx context.Context, _ *http.Request, resp *http.Response) error {
	resp.Body.Close()
	timer := time.NewTimer(d.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	d.token = d.err == nil
	return d.err
}

func (*doorman) Observe(*http.Request, *http.Response) bool { return false }

// TestHTTPSignInDuringProbe: a user takes minutes to sign in, and the probe, which needs the sign-in, waits for that.
func TestHTTPSignInDuringProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var methods []string // used by one goroutine after the other
		d := &doorman{takes: 4 * time.Minute}
		s, err := Connect(context.Background(), Options{Server: "web", Handler: &recorder{},
			Open: AnyHTTP(transport.HTTPOptions{
				URL: "https://mcp.example/", Auth: d, RoundTripper: handle(func(req *http.Request, body []byte) *http.Response {
					methods = append(methods, stringOf(member(body, "method"))+" "+req.Header.Get("Authorization"))
					if req.Header.Get("Authorization") == "" {
						return answer(http.StatusUnauthorized, "text/plain", "who are you?")
					}
					return answer(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+string(member(body, "id"))+`,"result":`+
						modernDiscover+`}`)
				}),
			})})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(nil)
		if s.Era() != Modern || d.asked != 1 {
			t.Errorf("era %v, asked %d times", s.Era(), d.asked)
		}
		wantLines(t, "requests", methods, "server/discover ", "server/discover Bearer t")
	})
}

// TestHTTPSignInRefused: the sign-in fails, and the start fails with its error; neither initialize nor the older
// transport is tried.
func TestHTTPSignInRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		abandoned := errors.New("the sign-in was abandoned")
		d := &doorman{takes: time.Minute, err: abandoned}
		_, err := Connect(context.Background(), Options{Server: "web", Handler: &recorder{},
			Open: AnyHTTP(transport.HTTPOptions{
				URL: "https://mcp.example/", Auth: d, RoundTripper: handle(func(*http.Request, []byte) *http.Response {
					asked++
					return answer(http.StatusUnauthorized, "text/plain", "who are you?")
				}),
			})})
		var failed *transport.HTTPError
		if !errors.As(err, &failed) || failed.Status != http.StatusUnauthorized || !errors.Is(err, abandoned) {
			t.Errorf("got %v", err)
		}
		if asked != 1 || d.asked != 1 {
			t.Errorf("%d requests, asked %d times", asked, d.asked)
		}
	})
}

// TestHTTPSignInClock: the time of sign-ins that overlap counts once.
func TestHTTPSignInClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := transport.HTTPOptions{Auth: &doorman{takes: 10 * time.Second}}
		clock := timeSignIn(&o)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				pass(time.Duration(i) * 5 * time.Second)
				if err := o.Auth.Authorize(context.Background(), nil, answer(401, "", "")); err != nil {
					t.Error(err)
				}
			})
		}
		pass(7 * time.Second)
		if got := clock(); got != 7*time.Second {
			t.Errorf("in the middle: %v", got)
		}
		all.Wait()
		pass(time.Hour)
		if got := clock(); got != 20*time.Second {
			t.Errorf("at the end: %v", got)
		}
	})
}

// TestMessageTooLong: ReadMessage returns the transport's error in place of a message that was skipped, and reading
// goes on.
func TestMessageTooLong(t *testing.T) {
	f := newExchanges(silent)
	f.in <- transport.Received{Err: &jsontext.TooLongError{Limit: 10, Size: 20, Head: []byte("h"),
		Tail: []byte("t")}}
	f.say("", "message")
	c := &streamableConn{t: f}
	var long *jsontext.TooLongError
	if _, err := c.ReadMessage(nil); !errors.As(err, &long) || long.Limit != 10 || long.Size != 20 ||
		string(long.Head) != "h" || string(long.Tail) != "t" {
		t.Errorf("a long message: %v", err)
	}
	if msg, err := c.ReadMessage(nil); string(msg.Text) != "message" || err != nil {
		t.Errorf("a message: %q, %v", msg.Text, err)
	}
}

// TestHTTPStreamOfAnswers: over the real transport, what comes on the stream of a call belongs to it, also an event
// with several lines of data.
func TestHTTPStreamOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Connect(context.Background(), Options{Server: "web", Handler: &recorder{}, Open: HTTP(transport.HTTPOptions{
			URL: "https://mcp.example/", RoundTripper: handle(func(_ *http.Request, body []byte) *http.Response {
				id := string(member(body, "id"))
				if stringOf(member(body, "method")) == protocol.MethodDiscover {
					return answer(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+id+`,"result":`+modernDiscover+`}`)
				}
				token := string(member(member(member(body, "params"), "_meta"), protocol.MetaProgressToken))
				return answer(http.StatusOK, "text/event-stream", ": hello\n\n"+
					`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":1}}`+
					"\n\n"+
					"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":"+id+",\"result\":"+callResult+"}\n\n")
			}),
		})})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(nil)
		steps := 0
		got, err := s.CallTool(context.Background(), &CallRequest{Name: "t", Arguments: json.RawMessage(`{}`),
			OnProgress: func(Progress) {
				steps++
			}})
		if err != nil || string(got.Raw) != callResult || steps != 1 {
			t.Errorf("%+v, %v, %d steps", got, err, steps)
		}
	})
}
