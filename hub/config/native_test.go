package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// native is a path as the system spells it that the test runs on. These tests write all of them with slashes; what is
// absolute lies on drive C where there are drives.
func native(path string) string {
	if runtime.GOOS == "windows" && strings.HasPrefix(path, "/") {
		path = "C:" + path
	}
	return filepath.FromSlash(path)
}

// slashed is a path as these tests write it.
func slashed(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, filepath.VolumeName(path)))
}
