package config

import (
	"maps"
	"slices"
)

// References returns the variables of the hub's environment, and the files except envFile, whose values or contents
// would go into the texts of the server when it starts. Both are sorted, without duplicates. It reads neither variables
// nor files.
func (s Server) References(v Variables) (env, files []string) {
	names, paths := map[string]struct{}{}, map[string]struct{}{}
	// Resolve itself reports what it looks up, so what is shown cannot differ from what is done. Every variable has a
	// value here, because a default or an unset variable must not hide another reference.
	v.Getenv = func(name string) (string, bool) {
		names[name] = struct{}{}
		return "x", true
	}
	v.ReadFile = func(path string) ([]byte, error) {
		paths[path] = struct{}{}
		return []byte("x"), nil
	}
	v.Input = Inputs(s.StandIns(nil))
	s.EnvFile = ""
	_, _ = s.Resolve(v) // errors are reported when the server is to start
	return slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(paths))
}
