//go:build !linux && !darwin && !windows

package watch

// remote: here it is not known which folders other computers may change.
func remote(string) bool { return false }
