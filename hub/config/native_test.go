package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// native returns a path as the system of the test spells it. These tests write all paths with slashes; absolute ones
// are on drive C where there are drives.
func native(path string) string {
	if runtime.GOOS == "windows" && strings.HasPrefix(path, "/") {
		path = "C:" + path
	}
	return filepath.FromSlash(path)
}

// slashed returns a path as these tests write it.
func slashed(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, filepath.VolumeName(path)))
}
