package hub

// Traces gives the timelines of the latest requests, oldest first.
func (h *Hub) Traces(TraceFilter) []TraceInfo { return nil }

// TraceBundle gives what belongs into a bug report besides the timelines: JSON members of one object.
func (h *Hub) TraceBundle() map[string]any { return nil }
