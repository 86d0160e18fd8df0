package jsonrpc

// tombstones remembers the last maxTombstones cancelled outgoing ids. Forgetting one costs nothing but the right name
// in a counter.
type tombstones struct {
	known map[ID]grave
	ring  []ID // in the order of their death, once it is full
	next  int
}

// grave is what is remembered of a cancelled call.
type grave struct {
	method string
	quiet  bool
	tag    any
	told   func(error) // of a quiet call: what becomes of the cancel that the protocol has for it; else nil
}

const maxTombstones = 4096

func (r *tombstones) add(id ID, g grave) {
	if r.known == nil {
		r.known = make(map[ID]grave)
	}
	r.known[id] = g
	if len(r.ring) < maxTombstones {
		r.ring = append(r.ring, id)
		return
	}
	delete(r.known, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % maxTombstones
}

// told gives the told of all quiet calls, and forgets them.
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
