package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

const (
	// maxPages bounds a list whose server always returns one more page.
	maxPages = 1000
	// maxEntryWarnings bounds how many malformed entries of one page are logged.
	maxEntryWarnings = 8
)

// listing describes one of the lists that a server returns page by page (server/utilities/pagination, all revisions).
type listing[T any] struct {
	method string
	member string // the member of the result that has the entries
	about  topic
	read   func(raw json.RawMessage) (T, error)
}

// listBytes is the charge of a list while it is read: the account of the server, and how much this list has taken of
// it.
type listBytes struct {
	account *bounds.Account
	taken   int
	entries int
}

// page takes the charge of one page. The error says which bound it exceeds.
func (b *listBytes) page(method string, bytes, entries int) error {
	if b.taken+bytes > bounds.ListBytes {
		return tooLarge(method, b.taken+bytes, bounds.ListBytes)
	}
	if b.entries += entries; b.entries > bounds.ListEntries {
		return &BoundError{jsonrpc.CodeInvalidParams, fmt.Sprintf("%s has more than %d entries", method, bounds.ListEntries)}
	}
	if err := b.account.Take(bytes); err != nil {
		return err
	}
	b.taken += bytes
	return nil
}

func (b *listBytes) release() {
	b.account.Give(b.taken)
	b.taken, b.entries = 0, 0
}

// listAll fetches all pages. An entry that cannot be parsed is left out with a warning, and the others are returned.
//
// If the server does not know a cursor any more, the list has changed since the earlier pages, some of which may come
// from the cache: all of them are dropped, and the list starts again, once (2026-07-28 server/utilities/caching).
func listAll[T any](ctx context.Context, s *Session, l listing[T]) ([]T, error) {
	cost := &listBytes{account: s.o.Lists}
	defer cost.release() // whoever keeps the list takes its own charge
	items, outdated, err := l.pages(ctx, s, cost)
	if outdated {
		cost.release()
		s.cache.dropMethod(l.method)
		items, _, err = l.pages(ctx, s, cost)
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}

// pages fetches the list from its beginning. outdated reports that the server has refused a cursor that it had issued
// itself.
func (l listing[T]) pages(ctx context.Context, s *Session, cost *listBytes) (items []T, outdated bool, err error) {
	var cursor json.RawMessage
	seen := map[string]bool{}
	for range maxPages {
		next, err := l.page(ctx, s, cursor, &items, cost)
		if err != nil {
			refusal := rpcError(err)
			return nil, cursor != nil && refusal != nil && refusal.Code == jsonrpc.CodeInvalidParams, err
		}
		if next == nil {
			return items, false, nil
		}
		// A cursor is opaque, and "" is a valid one (2026-07-28 server/utilities/pagination).
		text := stringOf(next)
		if seen[text] {
			return nil, false, &ProtocolError{Text: "the server repeats a cursor of " + l.method}
		}
		seen[text] = true
		cursor = next
	}
	return nil, false, &ProtocolError{Text: fmt.Sprintf("%s has more than %d pages", l.method, maxPages)}
}

// page returns one page, from the cache while it is fresh.
func (l listing[T]) page(ctx context.Context, s *Session, cursor json.RawMessage, items *[]T,
	cost *listBytes) (next json.RawMessage, err error) {
	if err := s.interrupted(ctx); err != nil {
		return nil, err
	}
	key := cacheKey{method: l.method, params: string(cursor)}
	if kept := s.cache.get(key); kept != nil {
		return l.readPage(s, kept, items, cost)
	}
	params := s.plainParams()
	if cursor != nil {
		params = s.plainParams("cursor", string(cursor))
	}
	mark := s.cache.mark(l.about)
	raw, err := s.peer.Call(ctx, l.method, params)
	if err != nil {
		return nil, err
	}
	if next, err = l.readPage(s, raw, items, cost); err != nil {
		return nil, err
	}
	s.keep(key, l.about, mark, raw)
	return next, nil
}

func (l listing[T]) readPage(s *Session, raw json.RawMessage, items *[]T,
	cost *listBytes) (next json.RawMessage, err error) {
	if err := cost.page(l.method, len(raw), 0); err != nil { // before it is parsed
		return nil, err
	}
	var resultType, list json.RawMessage
	object := eachMember(raw, func(name []byte, v json.RawMessage) bool {
		switch string(name) {
		case "resultType":
			resultType = v
		case "nextCursor":
			next = v
		case l.member:
			list = v
		}
		return true
	})
	entries, array := elements(list)
	if !object || list != nil && !array && !isNull(list) {
		return nil, &ProtocolError{Text: fmt.Sprintf("the answer to %s is malformed", l.method)}
	}
	if err := s.mustBeComplete(l.method, resultType); err != nil {
		return nil, err
	}
	if err := cost.page(l.method, 0, len(entries)); err != nil {
		return nil, err
	}
	bad := 0
	for _, entry := range entries {
		item, err := l.readEntry(entry)
		if err != nil {
			if bad++; bad <= maxEntryWarnings {
				s.log.Warn("an entry of a list is left out", "method", l.method, "error", err)
			}
			continue
		}
		*items = append(*items, item)
	}
	if bad > maxEntryWarnings {
		s.log.Warn("more entries of a list are left out", "method", l.method, "count", bad-maxEntryWarnings)
	}
	switch {
	case next == nil, isNull(next):
		return nil, nil
	case next[0] != '"':
		return nil, &ProtocolError{Text: fmt.Sprintf("the nextCursor of %s is no string", l.method)}
	}
	return next, nil
}

func (l listing[T]) readEntry(entry json.RawMessage) (item T, err error) {
	if len(entry) > bounds.EntryBytes {
		return item, tooLarge("it", len(entry), bounds.EntryBytes)
	}
	return l.read(entry)
}

// mustBeComplete checks the resultType of the answer to a method. Only tools/call, prompts/get and resources/read may
// have another one than "complete" (2026-07-28 basic/patterns/mrtr). An absent one means "complete"; legacy revisions
// have none.
func (s *Session) mustBeComplete(method string, resultType json.RawMessage) error {
	if s.Era() != Modern || resultType == nil || isNull(resultType) || stringOf(resultType) == "complete" {
		return nil
	}
	return &ProtocolError{Text: fmt.Sprintf("the server answered %s with the resultType %q", method,
		bounds.Printable(stringOf(resultType)))}
}

// readTexts reads members of an object that are texts. It reports whether raw is an object. A member that is no text is
// read as "".
func readTexts(raw json.RawMessage, texts map[string]*string) (object bool) {
	return eachMember(raw, func(name []byte, v json.RawMessage) bool {
		if text := texts[string(name)]; text != nil {
			*text = stringOf(v)
		}
		return true
	})
}

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
