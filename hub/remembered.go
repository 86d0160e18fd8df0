package hub

// Remembered lists what the user has answered for longer than once, oldest first; server "" = all.
func (h *Hub) Remembered(server string) []Remembered { return nil }

// Forget forgets answers by their ids, so that the user is asked again. It tells how many there were.
func (h *Hub) Forget(ids []string) int { return 0 }
