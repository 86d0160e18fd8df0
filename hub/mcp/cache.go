package mcp

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Bounds of the answers that a session keeps.
const (
	maxCached      = 256
	maxCachedBytes = 4 << 20
	// maxFresh bounds how long an answer counts as fresh, in case a server says "for ever" by mistake.
	maxFresh = 24 * time.Hour
)

// topic is the subject of a change notification.
type topic int

const (
	aboutTools topic = iota
	aboutPrompts
	aboutResources
	topics
)

// cacheKey is the method with the params, without _meta, as JSON text (2026-07-28 server/utilities/caching).
type cacheKey struct{ method, params string }

// cache keeps complete results while the server declares them fresh. A session has one authorization context, so
// whatever their cacheScope is, the results are kept for this session only. The zero value is ready to use; all methods
// are safe for concurrent use.
type cache struct {
	account *bounds.Account // charged for the entries; a result for which it has no room is not kept

	mu      sync.Mutex // guards what follows
	closed  bool
	entries map[cacheKey]*cached
	bytes   int
	changes [topics]uint64 // how often each topic was reported as changed
}

type cached struct {
	about topic
	raw   json.RawMessage
	until time.Time
}

// get returns a copy of the fresh entry, or nil if there is none.
func (c *cache) get(key cacheKey) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil
	}
	if !e.fresh(time.Now()) {
		c.remove(key, e)
		return nil
	}
	return bytes.Clone(e.raw)
}

// fresh uses both clocks: the monotonic one stops while the machine sleeps, and the other one may be set back.
func (e *cached) fresh(now time.Time) bool {
	return now.Before(e.until) && now.Round(0).Before(e.until.Round(0))
}

// mark returns the number of changes of a topic, to be taken before a request is sent. If a change is reported before
// put, the answer is not kept, because it is not known which of the two was first.
func (c *cache) mark(about topic) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes[about]
}

func (c *cache) put(key cacheKey, about topic, mark uint64, raw json.RawMessage, ttl time.Duration) {
	size := sizeOf(key, raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.remove(key, e)
	}
	if c.changes[about] != mark || size > maxCachedBytes || c.closed {
		return
	}
	if len(c.entries) >= maxCached || c.bytes+size > maxCachedBytes { // far more than is in use: start again
		c.removeAll()
	}
	if c.account.Take(size) != nil {
		return
	}
	if c.entries == nil {
		c.entries = make(map[cacheKey]*cached)
	}
	c.entries[key] = &cached{about: about, raw: bytes.Clone(raw), until: time.Now().Add(ttl)}
	c.bytes += size
}

// removeAll removes all entries. Called with mu held.
func (c *cache) removeAll() {
	for key, e := range c.entries {
		c.remove(key, e)
	}
}

// remove removes an entry. Called with mu held.
func (c *cache) remove(key cacheKey, e *cached) {
	delete(c.entries, key)
	c.bytes -= sizeOf(key, e.raw)
	c.account.Give(sizeOf(key, e.raw))
}

// close drops all entries, and no entry is added any more.
func (c *cache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.removeAll()
}

func sizeOf(key cacheKey, raw json.RawMessage) int {
	return len(key.method) + len(key.params) + len(raw) + 128
}

// changed drops all entries about a topic.
func (c *cache) changed(about topic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[about]++
	for key, e := range c.entries {
		if e.about == about {
			c.remove(key, e)
		}
	}
}

// updated drops the contents of one resource.
func (c *cache) updated(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[aboutResources]++ // a read of it may be in flight
	key := readKey(uri)
	if e := c.entries[key]; e != nil {
		c.remove(key, e)
	}
}

// dropMethod drops all pages of a list.
func (c *cache) dropMethod(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if key.method == method {
			c.remove(key, e)
		}
	}
}

// keep keeps a complete result of a modern server for as long as the server declares it fresh. Legacy revisions have no
// such declaration.
func (s *Session) keep(key cacheKey, about topic, mark uint64, raw json.RawMessage) {
	if s.Era() != Modern {
		return
	}
	if ttl := freshFor(raw); ttl > 0 {
		s.cache.put(key, about, mark, raw, ttl)
	}
}

// freshFor returns ttlMs as a duration; a value that is absent, negative or no number counts as 0.
func freshFor(result json.RawMessage) time.Duration {
	ms, ok := number(member(result, "ttlMs"))
	if !ok || !(ms > 0) {
		return 0
	}
	if ms >= float64(maxFresh/time.Millisecond) {
		return maxFresh
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// DropCache drops every kept answer: the next request for each is sent to the server, however long it was to be fresh.
func (s *Session) DropCache() {
	for about := range topics {
		s.cache.changed(about)
	}
}
