package journal

// queue is a list from which the oldest items are removed. It reuses their room. A slice that is only cut at its front
// and appended to would be copied to a new array over and over.
type queue[T any] struct {
	items []T // oldest first
	room  []T // empty; it begins where the array of items does
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

// pop removes and returns the oldest item.
func (q *queue[T]) pop() (oldest T) {
	oldest, q.items[0] = q.items[0], oldest
	q.items = q.items[1:]
	return oldest
}
