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
	tag    any
	told   func(error) // for a quiet call: called with what becomes of the protocol's own cancel for it; else nil
}

const maxTombstones = 4096

// add stores a cancelled call. forgotten is the call whose place it takes, the zero grave if there was room.
func (r *tombstones) add(id ID, g grave) (forgotten grave) {
	if r.known == nil {
		r.known = make(map[ID]grave)
	}
	r.known[id] = g
	if len(r.ring) < maxTombstones {
		r.ring = append(r.ring, id)
		return grave{}
	}
	forgotten = r.known[r.ring[r.next]]
	delete(r.known, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % maxTombstones
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
