package core

// Inconsistent returns what is inconsistent in the state, or "".
func (s *State) Inconsistent() string { return s.inconsistent() }
