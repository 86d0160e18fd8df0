package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// counted counts requests by method and cursor or URI. It is for fake servers, whose handlers run in several
// goroutines.
type counted struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counted) add(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[key]++
	return c.n[key]
}

func (c *counted) of(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[key]
}

// TestCacheFresh: lists and contents are kept for ttlMs and not a moment longer, in the modern era alone.
func TestCacheFresh(t *testing.T) {
	for _, l := range lists {
		t.Run(l.method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				var asked counted
				f.Handle(l.method, func(c *fakeserver.CallContext) {
					asked.add(l.method)
					c.Result(fmt.Sprintf(`{"resultType":"complete",%q:[%s],"ttlMs":1000,"cacheScope":"public"}`, l.member,
						l.entry("a")))
				})
				s := connect(t, f, &recorder{})
				want := 0
				for _, step := range []struct {
					after  time.Duration
					modern int // requests of a modern session so far
				}{{0, 1}, {0, 1}, {999 * time.Millisecond, 1}, {time.Millisecond, 2}, {time.Second, 3}} {
					pass(step.after)
					got, err := l.list(background, s)
					if err != nil || len(got) != 1 || got[0] != "a" {
						t.Errorf("got %v, %v", got, err)
					}
					want++
					if s.Era() == Modern {
						want = step.modern
					}
					if n := asked.of(l.method); n != want {
						t.Errorf("after %v more: %d requests, want %d", step.after, n, want)
					}
				}
			})
		})
	}
}

// TestCacheRead: contents are kept by URI, no request counts, and a caller that changes its result changes no other.
func TestCacheRead(t *testing.T) {
	bothEras(t, func(t *testing.T, f *fakeserver.Server) {
		var asked counted
		f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) {
			uri := stringOf(c.Param("uri"))
			c.Result(fmt.Sprintf(`{"contents":[%d],"uri":%q,"ttlMs":60000}`, asked.add(uri), uri))
		})
		s := connect(t, f, &recorder{})
		read := func(uri string) *CallResult {
			t.Helper()
			got, err := s.ReadResource(background, &CallRequest{Name: uri,
				Meta: map[string]json.RawMessage{"traceparent": json.RawMessage(`"x"`)}})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		first := read("a")
		read("b")
		again := read("a")
		modern := s.Era() == Modern
		if first.Rounds == 0 || (again.Rounds == 0) != modern || modern &&
			(string(first.Raw) != string(again.Raw) || again.Rounds != 0) {
			t.Errorf("first %+v, again %+v", first, again)
		}
		for i := range again.Raw {
			again.Raw[i] = 'x'
		}
		if got := read("a"); !strings.HasPrefix(string(got.Raw), `{"contents":[`) {
			t.Errorf("got %s", got.Raw)
		}
		if want := map[bool]int{true: 1, false: 3}[modern]; asked.of("a") != want || asked.of("b") != 1 {
			t.Errorf("asked %v", asked.n)
		}
		if modern {
			s.DropCache()
			if got := read("a"); got.Rounds == 0 || asked.of("a") != 2 {
				t.Errorf("after DropCache: %+v", got)
			}
		}
	})
}

// TestCacheNever: a result without a positive ttlMs, a result that took a further round, and an error are not kept.
func TestCacheNever(t *testing.T) {
	for name, result := range map[string]string{
		"absent": `{"contents":[]}`, "zero": `{"contents":[],"ttlMs":0}`, "negative": `{"contents":[],"ttlMs":-1}`,
		"text": `{"contents":[],"ttlMs":"1000"}`,
		"null": `{"contents":[],"ttlMs":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
				f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) { c.Result(result) })
				s := connect(t, f, &recorder{})
				for range 2 {
					if got, err := s.ReadResource(background, &CallRequest{Name: "u"}); err != nil || got.Rounds == 0 {
						t.Errorf("got %+v, %v", got.Rounds, err)
					}
				}
			})
		})
	}
	t.Run("retried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
			f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) {
				if c.Param("requestState") == nil {
					c.Result(`{"resultType":"input_required","requestState":"s","ttlMs":60000}`)
					return
				}
				c.Result(`{"resultType":"complete","contents":[],"ttlMs":60000}`)
			})
			s := connect(t, f, &recorder{})
			for range 2 {
				if got, err := s.ReadResource(background, &CallRequest{Name: "u"}); err != nil || got.Rounds != 2 {
					t.Errorf("got %+v, %v", got, err)
				}
			}
		})
	})
	t.Run("error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
			f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) {
				c.ErrorData(-32602, "no such resource", `{"ttlMs":60000}`)
			})
			s := connect(t, f, &recorder{})
			for range 2 {
				if _, err := s.ReadResource(background, &CallRequest{Name: "u"}); rpcError(err) == nil {
					t.Error(err)
				}
			}
			if n := len(lines(f, protocol.MethodReadResource)); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	})
}

// TestCacheInvalidated: each change notification drops what it is about and nothing else.
func TestCacheInvalidated(t *testing.T) {
	const a, b = "file:///a", "file:///b"
	all := []string{protocol.MethodListTools, protocol.MethodListPrompts, protocol.MethodListResources,
		protocol.MethodListResourceTemplates, a, b}
	for name, c := range map[string]struct {
		method, params string
		dropped        []string
	}{
		"tools":   {protocol.MethodToolsChanged, "", []string{protocol.MethodListTools}},
		"prompts": {protocol.MethodPromptsChanged, "", []string{protocol.MethodListPrompts}},
		"resources": {protocol.MethodResourcesChanged, "", []string{protocol.MethodListResources,
			protocol.MethodListResourceTemplates, a, b}},
		"updated": {protocol.MethodResourceUpdated, `{"uri":"file:\/\/\/a"}`, []string{a}},
		"another": {protocol.MethodResourceUpdated, `{"uri":"file:///c"}`, nil},
		"foreign": {protocol.MethodMessage, `{"level":"info","data":1}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
				var asked counted
				for _, l := range lists {
					f.Handle(l.method, func(c *fakeserver.CallContext) {
						asked.add(l.method)
						c.Result(fmt.Sprintf(`{%q:[],"ttlMs":3600000}`, l.member))
					})
				}
				f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) {
					asked.add(stringOf(c.Param("uri")))
					c.Result(`{"contents":[],"ttlMs":3600000}`)
				})
				s := connect(t, f, &recorder{})
				sub := openStream(t, f)
				fill := func() {
					t.Helper()
					for _, l := range lists {
						if _, err := l.list(background, s); err != nil {
							t.Fatal(err)
						}
					}
					for _, uri := range []string{a, b} {
						if _, err := s.ReadResource(background, &CallRequest{Name: uri}); err != nil {
							t.Fatal(err)
						}
					}
				}
				fill()
				fill()
				if err := sub.Notify(c.method, c.params); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				fill()
				for _, key := range all {
					want := 1
					for _, dropped := range c.dropped {
						if key == dropped {
							want = 2
						}
					}
					if n := asked.of(key); n != want {
						t.Errorf("%s was asked for %d times, want %d", key, n, want)
					}
				}
			})
		})
	}
}

// TestCacheChangeWhileAsking: an answer that was asked for before a change notification may be stale: it is not kept.
func TestCacheChangeWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		asked := make(chan *fakeserver.CallContext, 2)
		f.Handle(protocol.MethodReadResource, func(c *fakeserver.CallContext) { asked <- c })
		s := connect(t, f, &recorder{})
		sub := openStream(t, f)
		read := func() <-chan outcome {
			out := make(chan outcome, 1)
			go func() {
				r, err := s.ReadResource(background, &CallRequest{Name: "u"})
				out <- outcome{r, err}
			}()
			return out
		}
		first := read()
		c := <-asked
		if err := sub.Notify(protocol.MethodResourceUpdated, `{"uri":"u"}`); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c.Result(`{"contents":["old"],"ttlMs":60000}`)
		if o := finished(t, first); o.err != nil {
			t.Error(o.err)
		}
		second := read()
		(<-asked).Result(`{"contents":["new"],"ttlMs":60000}`)
		if o := finished(t, second); o.err != nil || o.result.Rounds == 0 || !strings.Contains(string(o.result.Raw), "new") {
			t.Errorf("got %+v", o)
		}
		if o := finished(t, read()); o.err != nil || o.result.Rounds != 0 || !strings.Contains(string(o.result.Raw), "new") {
			t.Errorf("got %+v", o)
		}
	})
}

// TestCachePages: pages are kept one by one, each for its own time; a cursor that is refused drops all of them.
func TestCachePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		var asked counted
		generation := "1"
		f.Handle(protocol.MethodListPrompts, func(c *fakeserver.CallContext) {
			cursor := stringOf(c.Param("cursor"))
			asked.add(cursor)
			switch cursor {
			case "":
				c.Result(`{"prompts":[{"name":"a` + generation + `"}],"nextCursor":"` + generation + `","ttlMs":60000}`)
			case generation:
				c.Result(`{"prompts":[{"name":"b` + generation + `"}],"ttlMs":1000}`)
			default:
				c.Error(-32602, "invalid cursor")
			}
		})
		s := connect(t, f, &recorder{})
		list := func(want string) {
			t.Helper()
			items, err := s.ListPrompts(background)
			got, _ := names(items, nil, func(p Prompt) string { return p.Name })
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
		}
		list("a1 b1")
		pass(2 * time.Second)
		list("a1 b1")
		if asked.of("") != 1 || asked.of("1") != 2 {
			t.Errorf("asked %v", asked.n)
		}
		pass(2 * time.Second)
		generation = "2" // without a notification: the kept first page is fresh, its cursor is refused
		list("a2 b2")
		if asked.of("") != 2 || asked.of("1") != 3 || asked.of("2") != 1 {
			t.Errorf("asked %v", asked.n)
		}
	})
}

// TestCacheBounded: number and bytes are bounded, a full cache starts again, and the count of bytes is right at the
// end.
func TestCacheBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache
		key := func(i int) cacheKey { return readKey(fmt.Sprint(i)) }
		for i := range maxCached {
			c.put(key(i), aboutResources, 0, json.RawMessage(`{}`), time.Hour)
		}
		if c.get(key(0)) == nil {
			t.Error("the first is gone already")
		}
		c.put(key(maxCached), aboutResources, 0, json.RawMessage(`{}`), time.Hour)
		if len(c.entries) != 1 || c.get(key(maxCached)) == nil {
			t.Errorf("%d entries after one too many", len(c.entries))
		}
		big := json.RawMessage(strings.Repeat(" ", maxCachedBytes/2))
		for i := range 5 {
			c.put(key(1000+i), aboutResources, 0, big, time.Hour)
		}
		if c.bytes > maxCachedBytes || len(c.entries) != 1 {
			t.Errorf("%d bytes in %d entries", c.bytes, len(c.entries))
		}
		c.put(key(2000), aboutResources, 0, append(big, big...), time.Hour)
		if c.get(key(2000)) != nil || len(c.entries) != 1 {
			t.Error("what is larger than the cache was kept, or has emptied it")
		}
		c.put(key(1004), aboutResources, 0, json.RawMessage(`{}`), time.Minute) // in place of the big one
		pass(time.Minute)
		if c.get(key(1004)) != nil || c.bytes != 0 || len(c.entries) != 0 {
			t.Errorf("%d bytes in %d entries are left", c.bytes, len(c.entries))
		}
	})
}

// TestCacheLife: a server cannot make an answer fresh for ever, whatever number it sends.
func TestCacheLife(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`1`: time.Millisecond, `1.5`: 1500 * time.Microsecond, `1e3`: time.Second, `1e300`: maxFresh,
		`99999999999999999999`: maxFresh, `1e999`: 0, `-1e300`: 0, `true`: 0, `{}`: 0,
	} {
		if got := freshFor(json.RawMessage(`{"ttlMs":` + text + `}`)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestCacheConcurrent: readers, changes and evictions at once, for the race detector; nothing stale is ever returned
// after a change.
func TestCacheConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache
		var version struct {
			sync.Mutex
			n int
		}
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				for i := range 200 {
					key := readKey(fmt.Sprint(i % 300))
					version.Lock()
					known := version.n
					version.Unlock()
					if raw := c.get(key); raw != nil {
						var n int
						if json.Unmarshal(raw, &n) != nil || n < known {
							t.Errorf("version %s is returned after %d was told", raw, known)
						}
						continue
					}
					mark := c.mark(aboutResources)
					version.Lock()
					n := version.n
					version.Unlock()
					c.put(key, aboutResources, mark, json.RawMessage(fmt.Sprint(n)), time.Hour)
				}
			})
		}
		work.Go(func() {
			for range 100 {
				version.Lock()
				version.n++
				c.changed(aboutResources)
				version.Unlock()
			}
		})
		work.Wait()
	})
}
