//go:build !linux

package longtext

// advise does nothing: only Linux has to be asked for large pages.
func advise([]byte, bool) {}
