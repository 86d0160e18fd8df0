package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const productModule = "github.com/mcphub-go/mcphub"

// binaries are the programs that are measured, and the programs that those talk to.
type binaries struct {
	dir    string
	mcphub string // the real hub
	echo   string // the MCP server
	// hostile is the server that attacks (internal/hostile).
	hostile string
	self    string // this program, for its plugins
	root    string // the root of the repository
	commit  string // what was measured; "unknown" without git
}

// build builds the programs. It needs the go command, and must run within this module's folder, as `go run .` does.
func build(ctx context.Context) (b binaries, err error) {
	if b.self, err = os.Executable(); err != nil {
		return b, err
	}
	if b.dir, err = os.MkdirTemp("", "mcphub-bench"); err != nil {
		return b, err
	}
	defer func() {
		if err != nil {
			b.remove()
		}
	}()
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	b.mcphub, b.echo = filepath.Join(b.dir, "mcphub"+suffix), filepath.Join(b.dir, "echoserver"+suffix)
	b.hostile = filepath.Join(b.dir, "hostileserver"+suffix)
	if err = goBuild(ctx, "", b.echo, productModule+"/internal/bench/echoserver"); err != nil {
		return b, err
	}
	// The hub is built in its own module, where its own go.mod decides about the versions.
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", productModule).Output()
	if err != nil {
		return b, fmt.Errorf("go list -m %s: %w", productModule, err)
	}
	b.root = strings.TrimSpace(string(root))
	b.commit = commitOf(ctx, b.root)
	if err = goBuild(ctx, b.root, b.hostile, "./internal/hostile/hostileserver"); err != nil {
		return b, err
	}
	return b, goBuild(ctx, b.root, b.mcphub, "./cmd/mcphub")
}

// commitOf names the commit of a repository, and says whether files were changed since.
func commitOf(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=8", "--dirty=, changed", "--exclude=*")
	cmd.Dir = root
	name, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(name))
}

func goBuild(ctx context.Context, dir, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, stderr.Bytes())
	}
	return nil
}

func (b binaries) remove() { _ = os.RemoveAll(b.dir) }
