//go:build !linux

package transport

// footprints is not known here. On Windows the job object holds the limit itself;
// on macOS and the BSDs it is not enforced.
func footprints([]*Process) []footprint { return nil }
