package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// allCapabilities is what a server declares that offers everything.
const allCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`

// bothEras runs a test against a legacy and a modern server that declares everything.
func bothEras(t *testing.T, test func(t *testing.T, f *fakeserver.Server)) {
	t.Helper()
	for era, option := range map[string]fakeserver.Option{"legacy": fakeserver.WithRevision(Revision20251125),
		"modern": fakeserver.WithModern()} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, fakeserver.New(option, fakeserver.WithCapabilities(allCapabilities)))
			})
		})
	}
}

// listOf is one of the four lists; list returns the names of its entries.
type listOf struct {
	method, member string
	entry          func(name string) string
	list           func(context.Context, *Session) ([]string, error)
}

func names[T any](items []T, err error, name func(T) string) ([]string, error) {
	var out []string
	for _, i := range items {
		out = append(out, name(i))
	}
	return out, err
}

var lists = []listOf{
	{protocol.MethodListTools, "tools", func(n string) string {
		return `{"name":"` + n + `"}`
	}, func(ctx context.Context, s *Session) ([]string, error) {
		items, err := s.ListTools(ctx)
		return names(items, err, func(t Tool) string { return t.Name })
	}},
	{protocol.MethodListPrompts, "prompts", func(n string) string {
		return `{"name":"` + n + `"}`
	}, func(ctx context.Context, s *Session) ([]string, error) {
		items, err := s.ListPrompts(ctx)
		return names(items, err, func(p Prompt) string { return p.Name })
	}},
	{protocol.MethodListResources, "resources", func(n string) string {
		return `{"uri":"` + n + `"}`
	}, func(ctx context.Context, s *Session) ([]string, error) {
		items, err := s.ListResources(ctx)
		return names(items, err, func(r Resource) string { return r.URI })
	}},
	{protocol.MethodListResourceTemplates, "resourceTemplates", func(n string) string {
		return `{"uriTemplate":"` + n + `"}`
	}, func(ctx context.Context, s *Session) ([]string, error) {
		items, err := s.ListResourceTemplates(ctx)
		return names(items, err, func(r ResourceTemplate) string { return r.URITemplate })
	}},
}

// warnings is a slog.Handler that keeps the messages of warnings, with their own attributes.
type warnings struct {
	slog.Handler
	mu   sync.Mutex
	text []string
}

func (w *warnings) Enabled(context.Context, slog.Level) bool { return true }
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	w.text = append(w.text, text)
	return nil
}

func (w *warnings) said(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.text {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

func withWarnings(w *warnings) func(*Options) {
	return func(o *Options) { o.Logger = slog.New(w) }
}

// TestListPages: all four lists, in both eras, page by page; "" is a cursor and null is none; malformed entries are
// left out with a warning each, up to a bound, and hide no other.
func TestListPages(t *testing.T) {
	for _, l := range lists {
		t.Run(l.method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				var cursors []string
				f.Handle(l.method, func(c *fakeserver.CallContext) {
					cursors = append(cursors, string(c.Param("cursor")))
					switch string(c.Param("cursor")) {
					case "":
						c.Result(fmt.Sprintf(`{%q:[%s,7,null,{"no":"name"},%s],"nextCursor":""}`, l.member, l.entry("a"), l.entry("b")))
					case `""`:
						c.Result(fmt.Sprintf(`{%q:[%s],"nextCursor":"\u0041\/"}`, l.member, strings.Repeat("{},", 20)+l.entry("c")))
					default:
						c.Result(fmt.Sprintf(`{%q:[%s],"nextCursor":null}`, l.member, l.entry("d")))
					}
				})
				w := &warnings{}
				s := connect(t, f, &recorder{}, withWarnings(w))
				got, err := l.list(background, s)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
				// The cursor goes back in the spelling in which it came.
				if diff := cmp.Diff([]string{"", `""`, `"\u0041\/"`}, cursors); diff != "" {
					t.Errorf("cursors (-want +got):\n%s", diff)
				}
				if n := w.said("an entry of a list is left out"); n != 3+maxEntryWarnings {
					t.Errorf("%d entries were warned of", n)
				}
				if rest := fmt.Sprintf("method=%s count=%d", l.method, 20-maxEntryWarnings); w.said(rest) != 1 {
					t.Errorf("the warnings are %q, want one with %q", w.text, rest)
				}
			})
		})
	}
}

// TestListBounds_amount: a cursor that comes twice and a list without an end are errors, whatever the list.
func TestListBounds_amount(t *testing.T) {
	for _, l := range lists {
		for name, c := range map[string]struct {
			page func(n int) string
			want string
			n    int
		}{
			"repeated": {func(int) string {
				return fmt.Sprintf(`{%q:[],"nextCursor":"same"}`, l.member)
			}, "repeats a cursor", 2},
			"endless": {func(n int) string {
				return fmt.Sprintf(`{%q:[],"nextCursor":"%d"}`, l.member, n)
			}, "more than 1000 pages", 1000},
			"no object": {func(int) string { return `[]` }, "malformed", 1},
		} {
			t.Run(l.member+" "+name, func(t *testing.T) {
				bothEras(t, func(t *testing.T, f *fakeserver.Server) {
					asked := 0
					f.Handle(l.method, func(call *fakeserver.CallContext) {
						asked++
						call.Result(c.page(asked))
					})
					s := connect(t, f, &recorder{})
					_, err := l.list(background, s)
					var wrong *ProtocolError
					if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || asked != c.n {
						t.Errorf("got %v after %d pages, want %q after %d", err, asked, c.want, c.n)
					}
				})
			})
		}
	}
}

// TestListCursorError: a cursor that the server no longer knows starts the list again, once.
func TestListCursorError(t *testing.T) {
	for _, l := range lists {
		t.Run(l.method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				asked, refusals := 0, 1
				f.Handle(l.method, func(c *fakeserver.CallContext) {
					asked++
					switch {
					case c.Param("cursor") == nil:
						c.Result(fmt.Sprintf(`{%q:[%s],"nextCursor":"c%d"}`, l.member, l.entry("a"), asked))
					case refusals > 0:
						refusals--
						c.Error(-32602, "invalid cursor")
					default:
						c.Result(fmt.Sprintf(`{%q:[%s]}`, l.member, l.entry("b")))
					}
				})
				s := connect(t, f, &recorder{})
				got, err := l.list(background, s)
				if diff := cmp.Diff([]string{"a", "b"}, got); err != nil || diff != "" || asked != 4 {
					t.Errorf("%v after %d requests, entries (-want +got):\n%s", err, asked, diff)
				}
				refusals = 10
				asked = 0
				if _, err := l.list(background, s); rpcError(err) == nil || asked != 4 {
					t.Errorf("a server that refuses all its cursors: %v after %d requests", err, asked)
				}
			})
		})
	}
}

// TestListNotAskedWithoutCapability: a server that declared nothing is sent no request: lists are empty, and all else
// fails with the name of the capability.
func TestListNotAskedWithoutCapability(t *testing.T) {
	for era, option := range map[string]fakeserver.Option{"legacy": fakeserver.WithRevision(Revision20251125),
		"modern": fakeserver.WithModern()} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(option, fakeserver.WithCapabilities(`{"prompts":null}`))
				s := connect(t, f, &recorder{})
				for _, l := range lists {
					if got, err := l.list(background, s); got != nil || err != nil {
						t.Errorf("%s: %v, %v", l.method, got, err)
					}
				}
				complete := func() error {
					_, err := s.Complete(background, CompletionRequest{Prompt: "p", Argument: "a"})
					return err
				}
				read := func() error {
					_, err := s.ReadResource(background, &CallRequest{Name: "file:///a"})
					return err
				}
				get := func() error {
					_, err := s.GetPrompt(background, &CallRequest{Name: "p"})
					return err
				}
				for capability, ask := range map[string]func() error{
					"resources": read, "prompts": get, "completions": complete,
					"resources.subscribe": func() error {
						return errors.Join(s.Subscribe(background, "file:///a"), s.Unsubscribe(background, "file:///a"))
					},
				} {
					var missing *CapabilityError
					if err := ask(); !errors.As(err, &missing) || missing.Capability != capability || missing.Server != "test" {
						t.Errorf("%s: %v", capability, err)
					}
				}
				synctest.Wait()
				for _, m := range f.Received() {
					switch m.Method {
					case protocol.MethodInitialize, protocol.MethodInitialized, protocol.MethodDiscover:
					default:
						t.Errorf("the server was sent %s", m.Raw)
					}
				}
			})
		})
	}
}

// TestServerInfoCapabilities: each flag is read from its own place, and members of a wrong type count as absent.
func TestServerInfoCapabilities(t *testing.T) {
	read := func(capabilities string) ServerInfo {
		i := readInfo([]byte(`{"capabilities":`+capabilities+`}`), nil)
		i.Capabilities = nil
		return i
	}
	for capabilities, want := range map[string]ServerInfo{
		`{}`: {},
		`{"prompts":{},"resources":{},"completions":{}}`: {HasPrompts: true, HasResources: true,
			HasCompletions: true},
		`{"prompts":{"listChanged":true}}`: {HasPrompts: true, PromptsListChanged: true},
		`{"resources":{"listChanged":true}}`: {HasResources: true,
			ResourcesListChanged: true},
		`{"resources":{"subscribe":true,"listChanged":"true"}}`:             {HasResources: true, ResourcesSubscribe: true},
		`{"prompts":null,"resources":null,"completions":null,"logging":{}}`: {Logging: true},
		`{"extensions":{"io.modelcontextprotocol/ui":{ "n":1.0e400 }},"x":1}`: {Extensions: []byte(
			`{"io.modelcontextprotocol/ui":{ "n":1.0e400 }}`)},
	} {
		if diff := cmp.Diff(want, read(capabilities)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", capabilities, diff)
		}
	}
}
