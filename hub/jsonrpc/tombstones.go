package jsonrpc

// tombstones stores the last maxTombstones cancelled outgoing ids. After an id was forgotten, its late response is
// counted as unknown and not passed to Options.OnLateResponse, so the cancel of a quiet call fails with
// errCancelForgotten.
type tombstones struct {
	known map[ID]grave
	ring  []ID // the ids in the order in which they were added, a ring buffer once it is full
	next  int
}

// grave is what is stored about a cancelled call.
type grave struct {
	method string
	quiet  bool
	late   bool // its response has come
	tag    any
	told   func(error) // for a quiet call: called with what becomes of the protocol's own cancel for it; else nil
}

const (
	maxTombstones = 4096
	// maxTags is how many of them have their tag. A tag holds what belongs to a call, its timeline for example, and is
	// large beside its tombstone. The response of an older call is passed on without one.
	maxTags = 512
)

// add stores a cancelled call. forgotten is the call whose place it takes, the zero grave if there was room.
func (r *tombstones) add(id ID, g grave) (forgotten grave) {
	if r.known == nil {
		r.known = make(map[ID]grave)
	}
	r.known[id] = g
	at := len(r.ring)
	if at < maxTombstones {
		r.ring = append(r.ring, id)
	} else {
		at = r.next
		forgotten = r.known[r.ring[at]]
		delete(r.known, r.ring[at])
		r.ring[at] = id
		r.next = (at + 1) % maxTombstones
	}
	if len(r.ring) > maxTags {
		old := r.ring[(at-maxTags+maxTombstones)%maxTombstones]
		untagged := r.known[old]
		untagged.tag = nil
		r.known[old] = untagged
	}
	return forgotten
}

// told returns the told functions of all quiet calls, and removes them from the entries.
func (r *tombstones) told() (list []func(error)) {
	for id, g := range r.known {
		if g.told != nil {
			list = append(list, g.told)
			g.told = nil
			r.known[id] = g
		}
	}
	return list
}

func (r *tombstones) has(rawID []byte) (g grave, known bool) {
	g, known = r.known[ID{raw: string(rawID)}]
	return g, known
}
