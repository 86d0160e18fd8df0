//go:build !linux

package transport

// footprints returns nil. On Windows the job object enforces the limit itself; on macOS and the BSDs it is not
// enforced.
func footprints([]*Process) []footprint { return nil }
