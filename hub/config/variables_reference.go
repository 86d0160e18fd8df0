package config

import (
	"maps"
	"slices"
)

// References are the variables of the hub's environment, and the files besides envFile, whose values or contents would
// go into the texts of the server when it starts. Both are sorted, each name once. Nothing of either is looked at.
func (s Server) References(v Variables) (env, files []string) {
	names, paths := map[string]struct{}{}, map[string]struct{}{}
	// Resolve itself says what it looks for, so that what is shown cannot differ from what is done. Every name has a value
	// here, for a default or an unset variable must not hide another reference.
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
	_, _ = s.Resolve(v) // what is wrong is told when the server is to start
	return slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(paths))
}
