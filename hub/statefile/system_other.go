//go:build !windows

package statefile

import "os"

func remove(path string) error           { return os.Remove(path) }
func rename(from, to string) error       { return os.Rename(from, to) }
func open(path string) (*os.File, error) { return os.Open(path) }
