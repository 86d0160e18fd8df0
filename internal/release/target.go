package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// target is a system, by the names of Go and by those of Node and VS Code.
type target struct{ goos, goarch, platform, arch string }

// targets are the systems for which a release is made.
var targets = []target{
	{"linux", "amd64", "linux", "x64"},
	{"linux", "arm64", "linux", "arm64"},
	{"darwin", "amd64", "darwin", "x64"},
	{"darwin", "arm64", "darwin", "arm64"},
	{"windows", "amd64", "win32", "x64"},
	{"windows", "arm64", "win32", "arm64"},
}

// name returns the target in the form of npm packages and .vsix files.
func (t target) name() string { return t.platform + "-" + t.arch }

// program returns the name of the executable.
func (t target) program() string {
	if t.goos == "windows" {
		return "mcphub.exe"
	}
	return "mcphub"
}

// build makes the program: static, stripped, and independent of this machine. It returns its path.
func (r *release) build(t target) (string, error) {
	path := filepath.Join(r.out, "programs", t.name(), t.program())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", absolute, "./cmd/mcphub")
	cmd.Dir = r.root
	// Go settings of this machine must not affect the program.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.goos, "GOARCH="+t.goarch, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return absolute, nil
}
