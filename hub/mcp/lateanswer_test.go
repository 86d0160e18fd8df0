package mcp

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Finding B7. The remembered era of a server is tried first, and may be wrong by now: a server that was modern may be a
// legacy one, which does not answer methods that it does not know.
func TestRememberedModernFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithSilentProbe(), fakeserver.WithLenientOrder())
		began := time.Now()
		s := connect(t, f, &recorder{}, func(o *Options) { o.LastEra = Modern })
		if took := time.Since(began); s.Era() != Legacy || took != DefaultProbeTimeout {
			t.Errorf("era %v after %v", s.Era(), took)
		}
	})
	for name, end := range map[string]func(*exchanges, string){
		"error": func(f *exchanges, id string) { f.refuse(id, -32000, "") },
		"status": func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Status: http.StatusBadRequest, Text: "no"})
		},
	} {
		t.Run("legacy no more, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(modernServer(func(f *exchanges, m transport.Message) { end(f, m.ID) }))
				if s, err := dial(t, f, &recorder{}, func(o *Options) { o.LastEra = Legacy }); err != nil || s.Era() != Modern {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// Finding B20. A modern server that is slower than the probe's timeout is also sent initialize, and its answer to
// server/discover counts, whatever it answers to initialize.
func TestLateDiscoverWins(t *testing.T) {
	for name, c := range map[string]struct {
		initialize func(*exchanges, string)
		fallback   bool
	}{
		"initialize is refused by an error": {initialize: func(f *exchanges, id string) { f.refuse(id, -32601, "") }},
		"initialize is refused by a status": {initialize: func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Status: 404, Text: "no"})
		}},
		"with another transport to try": {initialize: func(f *exchanges, id string) {
			f.fail(id, &transport.HTTPError{Status: 404, Text: "no"})
		}, fallback: true},
		"initialize is not answered at all": {initialize: func(*exchanges, string) {}},
		"initialize is answered much later": {initialize: func(f *exchanges, id string) {
			time.AfterFunc(time.Hour, func() { f.result(id, legacyAnswer) })
		}},
		"initialize is refused a bit sooner": {initialize: func(f *exchanges, id string) {
			time.AfterFunc(10*time.Second, func() { f.refuse(id, -32601, "") })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newExchanges(func(f *exchanges, m transport.Message) {
					if m.Method == protocol.MethodInitialize {
						c.initialize(f, m.ID)
						return
					}
					time.AfterFunc(20*time.Second, func() { f.result(m.ID, modernDiscover) })
				})
				began := time.Now()
				s, err := dial(t, f, &recorder{}, func(o *Options) {
					open := o.Open
					if o.Open == nil {
						open = f.open
					}
					o.Open = func(ctx context.Context) (*Link, error) {
						l, err := open(ctx)
						if c.fallback {
							l.Fallback = open
						}
						return l, err
					}
				})
				if err != nil || s.Era() != Modern || time.Since(began) != 20*time.Second {
					t.Fatalf("got %v after %v", err, time.Since(began))
				}
				if got := f.lines(); !slices.ContainsFunc(got, func(line string) bool {
					return strings.HasSuffix(line, " initialize")
				}) {
					t.Errorf("the wire: %q", got)
				}
			})
		})
	}
}

// Finding B10. A server that refuses the revision of initialize and says which it has is asked once more with one of
// those.
func TestInitializeRefusedForItsRevision(t *testing.T) {
	for data, revision := range map[string]string{
		`{"supported":["2025-06-18","2025-03-26"],"requested":"2025-11-25"}`: Revision20250618,
		`{"supported":["2025-11-25"]}`:                                       "",
		`{"supported":["1999-01-01"]}`:                                       "",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newExchanges(func(f *exchanges, m transport.Message) {
				if offered := stringOf(member(member(m.Body, "params"), "protocolVersion")); m.Method == protocol.MethodInitialize {
					if offered != revision {
						f.refuse(m.ID, -32602, data)
						return
					}
					f.result(m.ID, `{"protocolVersion":"`+offered+`","capabilities":{},"serverInfo":{"name":"l","version":"1"}}`)
				}
			})
			s, err := dial(t, f, &recorder{}, func(o *Options) { o.Era = EraLegacy })
			switch {
			case revision == "" && err == nil, revision != "" && (err != nil || s.Revision() != revision):
				t.Errorf("%s: got %v", data, err)
			}
			sent := 0
			for _, line := range f.lines() {
				if strings.HasSuffix(line, " initialize") {
					sent++
				}
			}
			if want := map[bool]int{true: 2, false: 1}[revision != ""]; sent != want {
				t.Errorf("%s: initialize was sent %d times, want %d", data, sent, want)
			}
		})
	}
}
