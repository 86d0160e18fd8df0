package journal

// maxRecent is how many ended requests are told apart from unknown ones.
const maxRecent = 8192

// Recent remembers the latest ids.
type Recent struct {
	known map[string]struct{}
	ids   []string
	next  int
}

// Add remembers an id, and forgets the oldest.
func (r *Recent) Add(id string) {
	if r.Has(id) {
		return // a host may use an id again
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

// Has tells whether an id is among the latest.
func (r *Recent) Has(id string) bool {
	_, ok := r.known[id]
	return ok
}
