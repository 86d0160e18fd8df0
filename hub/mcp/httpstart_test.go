package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

const (
	lineModern     = "speak modern=true 2026-07-28"
	lineLegacy     = "speak modern=false"
	lineNegotiated = "speak modern=false 2025-11-25"
	lineDiscover   = "POST 1 server/discover"
	lineReady      = "POST  notifications/initialized"
)

// TestHTTPProbe: what the answer to server/discover means, and what goes over the wire because of it.
func TestHTTPProbe(t *testing.T) {
	web := func(status int, text string) func(*exchanges, string) {
		return func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Status: status, Text: text, Delivery: transport.MayHaveRun})
		}
	}
	rpc := func(code int, data string) func(*exchanges, string) {
		return func(f *exchanges, id string) { f.refuse(id, code, data) }
	}
	legacy := []string{lineModern, lineDiscover, lineLegacy, "POST 2 initialize", lineNegotiated, lineReady}
	refused := []string{lineModern, lineDiscover, "close"}
	for name, c := range map[string]struct {
		probe func(f *exchanges, id string)
		era   Era // 0: the start fails
		lines []string
		fault string
	}{
		"result": {func(f *exchanges, id string) {
			f.result(id, modernDiscover)
		}, Modern, []string{lineModern, lineDiscover}, ""},
		"result that is none":                 {func(f *exchanges, id string) { f.result(id, `{}`) }, Legacy, legacy, ""},
		"400 empty":                           {web(400, "bad request"), Legacy, legacy, ""},
		"404 empty":                           {web(404, "not found"), Legacy, legacy, ""},
		"405":                                 {web(405, "method not allowed"), Legacy, legacy, ""},
		"406":                                 {web(406, "not acceptable"), Legacy, legacy, ""},
		"500":                                 {web(500, "trouble"), Legacy, legacy, ""},
		"HTML":                                {web(200, "no JSON-RPC"), Legacy, legacy, ""},
		"answer broken off":                   {web(0, "the connection was closed"), Legacy, legacy, ""},
		"404 with -32601":                     {rpc(-32601, ""), Legacy, legacy, ""},
		"400 with -32602":                     {rpc(-32602, ""), Legacy, legacy, ""},
		"400 with -32000":                     {rpc(-32000, ""), Legacy, legacy, ""},
		"400 with -32022 of legacy revisions": {rpc(-32022, `{"supported":["2025-11-25"]}`), Legacy, legacy, ""},
		"400 with -32022 of none of ours":     {rpc(-32022, `{"supported":["2031-01-01"]}`), 0, refused, "2031-01-01"},
		"400 with -32020":                     {rpc(-32020, ""), 0, refused, "-32020"},
		"400 with -32021":                     {rpc(-32021, ""), 0, refused, "-32021"},
		"401":                                 {web(401, "sign in"), 0, refused, "401"},
		"403":                                 {web(403, "no right"), 0, refused, "403"},
		"429":                                 {web(429, "slow down"), 0, refused, "429"},
		"nobody there": {func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Text: "connection refused", Delivery: transport.NotSent})
		}, 0, refused, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(func(f *exchanges, m transport.Message) {
					if m.Method == protocol.MethodDiscover {
						c.probe(f, m.ID)
						return
					}
					f.result(m.ID, legacyAnswer)
				})
				s, err := dial(t, f, &recorder{})
				synctest.Wait()
				wantLines(t, "the wire", f.lines(), c.lines...)
				if c.era == 0 {
					var failed *StartError
					if !errors.As(err, &failed) || failed.Stage != protocol.MethodDiscover || !strings.Contains(err.Error(), c.fault) {
						t.Fatalf("got %v", err)
					}
					return
				}
				if err != nil || s.Era() != c.era {
					t.Fatalf("got %v, %v", s, err)
				}
			})
		})
	}
}

// TestHTTPProbeRetriesVersion: after a -32022 that lists our modern revision, the probe is sent once more.
func TestHTTPProbeRetriesVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		f := newExchanges(func(f *exchanges, m transport.Message) {
			if tries++; tries == 1 {
				f.refuse(m.ID, protocol.CodeUnsupportedVersion, `{"supported":["2026-07-28"]}`)
				return
			}
			f.result(m.ID, modernDiscover)
		})
		if s, err := dial(t, f, &recorder{}); err != nil || s.Era() != Modern {
			t.Fatalf("got %v", err)
		}
		wantLines(t, "the wire", f.lines(), lineModern, lineDiscover, "POST 2 server/discover")
	})
}

// TestHTTPProbeSilent: a server that does not answer the probe is sent initialize after the probe's timeout. Once that
// is answered, the probe's exchange is aborted, without a notification.
func TestHTTPProbeSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newExchanges(func(f *exchanges, m transport.Message) {
			if m.Method == protocol.MethodInitialize {
				f.result(m.ID, legacyAnswer)
			}
		})
		began := time.Now()
		if s, err := dial(t, f, &recorder{}); err != nil || s.Era() != Legacy {
			t.Fatalf("got %v", err)
		}
		if took := time.Since(began); took != DefaultProbeTimeout {
			t.Errorf("the fallback came after %v", took)
		}
		wantLines(t, "the wire", f.lines(), lineModern, lineDiscover, lineLegacy, "POST 2 initialize", lineNegotiated,
			lineReady, "abort 1")
	})
}

// TestHTTPProbeSigningIn: the probe's timeout does not run while a user signs in, and goes on after that. What signing
// in took before does not count.
func TestHTTPProbeSigningIn(t *testing.T) {
	for answer, era := range map[time.Duration]Era{3*time.Minute + 4*time.Second: Modern, 3*time.Minute +
		6*time.Second: Legacy} {
		synctest.Test(t, func(t *testing.T) {
			f := newExchanges(func(f *exchanges, m transport.Message) {
				if m.Method == protocol.MethodInitialize {
					f.result(m.ID, legacyAnswer)
					return
				}
				time.AfterFunc(answer, func() { f.result(m.ID, modernDiscover) })
			})
			began := time.Now()
			s, err := dial(t, f, &recorder{}, func(o *Options) {
				o.Open = func(context.Context) (*Link, error) {
					l := streamableLink(f, nil)
					l.SignedIn = func() time.Duration { return time.Hour + min(time.Since(began), 3*time.Minute) }
					return l, nil
				}
			})
			if err != nil || s.Era() != era {
				t.Fatalf("an answer after %v: got %v", answer, err)
			}
		})
	}
}

// TestHTTPStartEnds: when the time limit of the start is reached, the link is closed, and no cancel is sent.
func TestHTTPStartEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newExchanges(silent)
		limit := errors.New("the limit of the start")
		ctx, stop := context.WithTimeoutCause(context.Background(), 7*time.Second, limit)
		defer stop()
		_, err := Connect(ctx, Options{Server: "web", Open: f.open, Handler: &recorder{}})
		if !errors.Is(err, limit) {
			t.Errorf("got %v", err)
		}
		wantLines(t, "the wire", f.lines(), lineModern, lineDiscover, lineLegacy, "POST 2 initialize", "abort 2", "abort 1",
			"close")
	})
}

// TestHTTPEraSettings: the setting and the remembered era decide what is tried first; a remembered era that is wrong is
// corrected.
func TestHTTPEraSettings(t *testing.T) {
	modernOnly := modernServer(func(f *exchanges, m transport.Message) {
		f.refuse(m.ID, protocol.CodeUnsupportedVersion, `{"supported":["2026-07-28"]}`)
	})
	for name, c := range map[string]struct {
		serve func(*exchanges, transport.Message)
		o     Options
		era   Era
		lines []string
	}{
		"legacy": {legacyServer(silent), Options{Era: EraLegacy}, Legacy,
			[]string{lineLegacy, "POST 1 initialize", lineNegotiated, lineReady}},
		"remembered": {legacyServer(silent), Options{LastEra: Legacy}, Legacy,
			[]string{lineLegacy, "POST 1 initialize", lineNegotiated, lineReady}},
		"no more legacy": {modernOnly, Options{LastEra: Legacy}, Modern,
			[]string{lineLegacy, "POST 1 initialize", lineModern, "POST 2 server/discover"}},
		"no more modern": {legacyServer(silent), Options{LastEra: Modern}, Legacy,
			[]string{lineModern, lineDiscover, lineLegacy, "POST 2 initialize", lineNegotiated, lineReady}},
		"modern forced": {legacyServer(silent), Options{Era: EraModern}, 0, []string{lineModern, lineDiscover, "close"}},
		"legacy forced": {modernOnly, Options{Era: EraLegacy}, 0, []string{lineLegacy, "POST 1 initialize", "close"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(c.serve)
				s, err := dial(t, f, &recorder{}, func(o *Options) { o.Era, o.LastEra = c.o.Era, c.o.LastEra })
				wantLines(t, "the wire", f.lines(), c.lines...)
				if (err == nil) != (c.era != 0) || err == nil && s.Era() != c.era {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestHTTPFallbackToSSE: which answers to initialize lead to the older transport.
func TestHTTPFallbackToSSE(t *testing.T) {
	refusing := func(status, code int) func(*exchanges, transport.Message) {
		return func(f *exchanges, m transport.Message) {
			if code != 0 {
				f.refuse(m.ID, code, "")
				return
			}
			f.fail(m.ID, &transport.HTTPError{Status: status, Text: "refused"})
		}
	}
	for name, c := range map[string]struct {
		status, code int
		falls        bool
	}{
		"400": {400, 0, true}, "404": {404, 0, true}, "405": {405, 0, true}, "415": {415, 0, true},
		"400 with an error of no era": {0, -32000, true},
		"401":                         {401, 0, false}, "403": {403, 0, false}, "429": {429, 0, false},
		"500":    {500, 0, false},
		"-32020": {0, protocol.CodeHeaderMismatch, false}, "-32021": {0, protocol.CodeMissingCapability, false},
		"-32022": {0, protocol.CodeUnsupportedVersion, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(refusing(c.status, c.code))
				old := fakeserver.New()
				fallback, opened := serving(t, old), false
				o := func(o *Options) {
					o.Era = EraLegacy
					o.Open = func(context.Context) (*Link, error) {
						l := streamableLink(f, nil)
						l.Fallback = func(ctx context.Context) (*Link, error) {
							opened = true
							l, err := fallback(ctx)
							l.LegacyOnly = true
							return l, err
						}
						return l, nil
					}
				}
				s, err := dial(t, f, &recorder{}, o)
				if opened != c.falls || (err == nil) != c.falls {
					t.Fatalf("fell back %t, got %v", opened, err)
				}
				wantLines(t, "the wire", f.lines(), lineLegacy, "POST 1 initialize", "close")
				if c.falls && (s.Era() != Legacy || len(lines(old, protocol.MethodInitialize)) != 1 ||
					len(lines(old, protocol.MethodDiscover)) != 0) {
					t.Errorf("over SSE: %+v", old.Received())
				}
			})
		})
	}
}

// TestHTTPFallbackFails: if both transports fail, the error names both; if the server answered with a JSON-RPC error,
// that is the error; an Opener that hangs is ended.
func TestHTTPFallbackFails(t *testing.T) {
	noStream := errors.New("no event stream")
	for name, c := range map[string]struct {
		serve func(*exchanges, transport.Message)
		open  Opener
		want  string
	}{
		"both": {func(f *exchanges, m transport.Message) {
			f.fail(m.ID, &transport.HTTPError{Status: 404, Text: "nothing here"})
		},
			func(context.Context) (*Link, error) { return nil, noStream },
			`did not start: HTTP status 404 (Not Found): nothing here; over HTTP+SSE: no event stream`},
		"its own word": {func(f *exchanges, m transport.Message) { f.refuse(m.ID, -32602, "") },
			func(context.Context) (*Link, error) { return nil, noStream },
			`did not start: it answered initialize with error -32602: no`},
		"hangs": {func(f *exchanges, m transport.Message) { f.fail(m.ID, &transport.HTTPError{Status: 405, Text: "POST"}) },
			func(ctx context.Context) (*Link, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			`over HTTP+SSE: no answer over the older transport within the probe's time`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(c.serve)
				_, err := dial(t, f, &recorder{}, func(o *Options) {
					o.Open = func(context.Context) (*Link, error) {
						l := streamableLink(f, nil)
						l.Fallback = c.open
						return l, nil
					}
				})
				if err == nil || !strings.HasSuffix(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestSSEIsLegacyOnly: there is no probe over HTTP+SSE, and a setting that asks for the modern era there is an error.
func TestSSEIsLegacyOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _, _ := wire()
		link.LegacyOnly = true
		_, err := Connect(context.Background(), Options{Server: "old", Era: EraModern, Handler: &recorder{},
			Open: func(context.Context) (*Link, error) { return link, nil }})
		if err == nil || !strings.Contains(err.Error(), "era is modern") {
			t.Errorf("got %v", err)
		}
	})
}

// TestHTTPNotRespawned: a link that ends on the probe, or on initialize behind it, ends the start: there is no process
// to start anew.
func TestHTTPNotRespawned(t *testing.T) {
	for stage, serve := range map[string]func(*exchanges, transport.Message){
		protocol.MethodDiscover: func(f *exchanges, _ transport.Message) { f.die(transport.ErrHTTPClosed) },
		protocol.MethodInitialize: func(f *exchanges, m transport.Message) {
			if m.Method == protocol.MethodInitialize {
				f.die(transport.ErrHTTPClosed)
				return
			}
			f.refuse(m.ID, -32601, "")
		},
	} {
		t.Run(stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, opens := newExchanges(serve), 0
				_, err := dial(t, f, &recorder{}, func(o *Options) {
					o.Open = func(ctx context.Context) (*Link, error) {
						opens++
						return f.open(ctx)
					}
				})
				var failed *StartError
				if !errors.As(err, &failed) || failed.Stage != stage || !errors.Is(err, transport.ErrHTTPClosed) || opens != 1 {
					t.Errorf("%d links, %v", opens, err)
				}
			})
		})
	}
}

// TestSSEDoesNotStall: a POST may wait for as long as somebody signs in, and the transport bounds it: that is not a
// server which has stopped reading.
func TestSSEDoesNotStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, w := io.Pipe()
		toClient := newPipe()
		read := make(chan string)
		go func() {
			in := bufio.NewReader(serverIn)
			for range 2 { // initialize, and much later initialized
				line, err := in.ReadString('\n')
				if err != nil {
					line = err.Error()
				}
				read <- line
			}
		}()
		go func() {
			<-read
			toClient.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":` + legacyAnswer + `}` + "\n"))
		}()
		s, err := Connect(background, Options{Server: "old", Handler: &recorder{}, StallLimit: time.Minute,
			Open: func(context.Context) (*Link, error) {
				return &Link{LegacyOnly: true, Conn: jsonrpc.NewLineConn(toClient, w, jsonrpc.LineConnOptions{Close: func() error {
					w.Close()
					serverIn.Close()
					return toClient.Close()
				}})}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(nil)
		// The goroutine above has read initialized and is blocked, so nothing more is read.
		synctest.Wait()
		if err := s.peer.Notify("notifications/roots/list_changed", nil); err != nil {
			t.Error(err)
		}
		pass(10 * time.Minute)
		if s.Broken() {
			t.Errorf("the session ended: %v", s.peer.Err())
		}
		if line := <-read; !strings.Contains(line, protocol.MethodInitialized) {
			t.Errorf("read %s", line)
		}
	})
}
