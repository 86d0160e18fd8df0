package journal

// queue is a list whose oldest items go. It uses the room of those that have gone again: a slice that is only cut at
// its front and appended to is copied to a new place over and over.
type queue[T any] struct {
	items []T // oldest first
	room  []T // empty; it begins where the room of items does
}

func (q *queue[T]) push(item T) {
	if gone := cap(q.room) - cap(q.items); len(q.items) == cap(q.items) && gone > len(q.items)/4 {
		moved := append(q.room, q.items...)
		clear(q.items[max(len(q.items)-gone, 0):])
		q.items = moved
	}
	before := cap(q.items)
	if q.items = append(q.items, item); cap(q.items) != before {
		q.room = q.items[:0]
	}
}

// pop takes the oldest item away.
func (q *queue[T]) pop() (oldest T) {
	oldest, q.items[0] = q.items[0], oldest
	q.items = q.items[1:]
	return oldest
}
