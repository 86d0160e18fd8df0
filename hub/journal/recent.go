package journal

// maxRecent is for how many ended requests the hub knows that they have ended.
const maxRecent = 8192

// Recent remembers the ids that were added last. Has tells them from unknown ids.
type Recent struct {
	known map[string]struct{}
	ids   []string
	next  int
}

// Add remembers an id, and forgets the oldest if there are too many.
func (r *Recent) Add(id string) {
	if r.Has(id) {
		return // a host may reuse an id
	}
	if r.known == nil {
		r.known = map[string]struct{}{}
	}
	if len(r.ids) < maxRecent {
		r.ids = append(r.ids, id)
	} else {
		delete(r.known, r.ids[r.next])
		r.ids[r.next] = id
		r.next = (r.next + 1) % maxRecent
	}
	r.known[id] = struct{}{}
}

// Has reports whether id is remembered.
func (r *Recent) Has(id string) bool {
	_, ok := r.known[id]
	return ok
}
