package hub

// WatchConfig says whether the hub watches the files of its config from the next LoadConfig on.
func (h *Hub) WatchConfig(bool) {}
