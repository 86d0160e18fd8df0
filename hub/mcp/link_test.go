package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestStartErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		open := func(context.Context) (*Link, error) { return nil, errors.New("no such program") }
		_, err := Connect(ctx, Options{Server: "x", Open: open, Handler: &recorder{}})
		if err == nil || !strings.Contains(err.Error(), `server "x" did not start: no such program`) {
			t.Errorf("open: %v", err)
		}
		var bad *ArgumentsError
		if _, err := Connect(ctx, Options{Open: open, Handler: &recorder{}, Era: "future"}); !errors.As(err, &bad) {
			t.Errorf("unknown era: %v", err)
		}
		if _, err := Connect(ctx, Options{Handler: &recorder{}}); !errors.As(err, &bad) {
			t.Errorf("no Open: %v", err)
		}
	})
}

// TestServerEnds: open calls fail, open questions end, and Err tells how the server ended.
func TestServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) {
			c.Request(protocol.MethodElicitation, `{"message":"?","requestedSchema":{}}`)
			c.Hang()
		})
		causes := make(chan error, 1)
		opener := serving(t, f)
		s := connect(t, f, &recorder{ask: hang(causes)}, func(o *Options) {
			o.Open = func(ctx context.Context) (*Link, error) {
				l, err := opener(ctx)
				l.Ended = func() string { return "the process exited with status 3" }
				return l, err
			}
		})
		out := begin(context.Background(), s, &CallRequest{Name: "t"})
		synctest.Wait()
		if s.InFlight() != 1 || s.Err() != nil {
			t.Fatalf("before the end: %d calls, error %v", s.InFlight(), s.Err())
		}
		f.Disconnect()
		if o := finished(t, out); !errors.Is(o.err, jsonrpc.ErrClosed) {
			t.Errorf("the call got %v", o.err)
		}
		if cause := <-causes; !errors.Is(cause, jsonrpc.ErrClosed) {
			t.Errorf("the question ended with %v", cause)
		}
		<-s.Done()
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), `"test" ended`) ||
			!strings.HasSuffix(err.Error(), "exited with status 3") {
			t.Errorf("Err: %v", err)
		}
		if _, err := s.CallTool(context.Background(), &CallRequest{Name: "t"}); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("a later call got %v", err)
		}
	})
}

// TestStalledServerEndsSession: a server that has stopped reading is ended after the limit, and calls and Close do not
// wait for it.
func TestStalledServerEndsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, w := io.Pipe()
		toClient := newPipe()
		killed, blamed := make(chan string, 1), make(chan string, 1)
		go func() {
			// One line, and nothing more, not even into a buffer: initialized is the first thing that it does not take.
			if _, err := bufio.NewReader(serverIn).ReadString('\n'); err != nil {
				t.Error(err)
			}
			toClient.Write(
				[]byte(
					`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"deaf","version":"1"}}}` + "\n"))
		}()
		s, err := Connect(background, Options{
			Server: "deaf", Era: EraLegacy, Handler: &recorder{}, StallLimit: time.Minute,
			Open: func(context.Context) (*Link, error) {
				return &Link{
					Conn: jsonrpc.NewLineConn(toClient, w, jsonrpc.LineConnOptions{Close: func() error {
						select {
						case why := <-blamed:
							if why != "the server has stopped reading its input" {
								t.Errorf("blamed: %s", why)
							}
						default:
							t.Error("closed before it was said why")
						}
						w.Close()
						serverIn.Close()
						return toClient.Close()
					}}),
					Kill:  func(why string) { killed <- why },
					Blame: func(why string) { blamed <- why },
				}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the call got %v", err)
		}
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("the end came after %v", took)
		}
		<-s.Done()
		if !errors.Is(s.Err(), jsonrpc.ErrStalled) {
			t.Errorf("Err: %v", s.Err())
		}
		if text := s.Err().Error(); text != `the connection to server "deaf" ended: it has stopped reading its input` {
			t.Errorf("Err: %s", text)
		}
		<-killed
	})
}

func TestCloseIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		s := connect(t, f, &recorder{})
		why := errors.New("no longer wanted")
		closed := make(chan error, 4)
		for range cap(closed) {
			go func() { closed <- s.Close(why) }()
		}
		for range cap(closed) {
			if err := <-closed; err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if !errors.Is(s.Err(), why) {
			t.Errorf("Err: %v", s.Err())
		}
	})
}

// TestStdio_real runs a real process: this test binary, as a server that answers initialize, says something on stderr
// and exits on the first call.
func TestStdio_real(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var link *Link
	s, err := Connect(context.Background(), Options{
		Server: "child", Handler: &recorder{}, Client: testClient, Era: EraLegacy,
		Open: func(ctx context.Context) (_ *Link, err error) {
			link, err = Stdio(process.Command{Path: exe, Env: append(os.Environ(), "MCP_TEST_SERVER=1")}, 0)(ctx)
			return link, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	if _, err := s.CallTool(context.Background(), &CallRequest{Name: "die"}); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the call got %v", err)
	}
	<-s.Done()
	if how := link.Exit(); how != "exited with code 3" {
		// it must count as exited by itself, although the end of its output came first
		t.Errorf("Exit: %s", how)
	}
	text := s.Err().Error()
	if !strings.Contains(text, "ended: it closed its output; the process exited with status 3") ||
		!strings.Contains(text, `last lines on stderr: out of paper\u001b[0m`) {
		t.Errorf("Err: %s", text)
	}
}

func TestStdioStartFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "program")
	_, err := Connect(context.Background(), Options{
		Server: "none", Handler: &recorder{}, Open: Stdio(process.Command{Path: missing}, 0),
	})
	var failed *StartError
	if !errors.As(err, &failed) || failed.Stage != "open" {
		t.Errorf("got %v", err)
	}
}

// The line that matters of what a server wrote is in the error, although five others came after it, and no text is
// said twice. Finding D6.
func TestStartErrorSaysWhatMatters_real(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"Error: Cannot find module '/srv/x.js'\n    at a\n    at b {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20\n": `server "child" did not start: it closed its output; the process exited with status 1; ` +
			`it says on stderr: Error: Cannot find module '/srv/x.js'`,
		"Error: unknown flag: --x\nUsage:\n a\n b\n c\n d\n e\n": `server "child" did not start: it closed its output; the process exited with status 1; ` +
			`it says on stderr: Error: unknown flag: --x; last lines on stderr:  a |  b |  c |  d |  e`,
	} {
		_, err = Connect(context.Background(), Options{
			Server: "child", Handler: &recorder{}, Era: EraLegacy,
			Open: Stdio(process.Command{Path: exe, Env: append(os.Environ(), "MCP_TEST_SERVER="+said)}, 0),
		})
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v, want\n%s", err, want)
		}
	}
}

// TestMain is the server of TestStdio_real if MCP_TEST_SERVER is 1; for any other text it writes that to stderr and
// exits.
func TestMain(m *testing.M) {
	switch said := os.Getenv("MCP_TEST_SERVER"); said {
	case "":
		os.Exit(m.Run())
	case "1":
	default:
		_, _ = os.Stderr.WriteString(said)
		os.Exit(1)
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var request struct{ Method string }
		if in.Decode(&request) != nil {
			os.Exit(0)
		}
		switch request.Method {
		case protocol.MethodInitialize:
			os.Stdout.WriteString(
				`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"child","version":"1"}}}` + "\n")
		case protocol.MethodCallTool:
			os.Stderr.WriteString("out of paper\x1b[0m\n")
			os.Exit(3)
		}
	}
}
