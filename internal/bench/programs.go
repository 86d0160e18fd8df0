package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const productModule = "github.com/mcphub-go/mcphub"

// programs are what is measured, and what that talks to.
type programs struct {
	dir     string // of the built programs; it is removed at the end
	mcphub  string // the real hub
	echo    string // the MCP server
	hostile string // the server that attacks (internal/hostile)
	self    string // this program, for its roles
	root    string // the root of the repository
	commit  string // what was measured, and whether files were changed since; "unknown" without git
}

// build builds the programs. It needs the go command, and must run within this module's folder, as `go run .` does.
func build(ctx context.Context) (p programs, err error) {
	if p.self, err = os.Executable(); err != nil {
		return p, err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", productModule).Output()
	if err != nil {
		return p, fmt.Errorf("go list -m %s: %w", productModule, err)
	}
	p.root = strings.TrimSpace(string(root))
	p.commit = "unknown"
	describe := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=8", "--dirty=, changed", "--exclude=*")
	describe.Dir = p.root
	if name, err := describe.Output(); err == nil {
		p.commit = strings.TrimSpace(string(name))
	}
	if p.dir, err = os.MkdirTemp("", "mcphub-bench"); err != nil {
		return p, err
	}
	// Each is built in its own module, whose go.mod decides about the versions.
	for _, program := range []struct {
		path            *string
		name, dir, from string
	}{
		{&p.echo, "echoserver", "", "./echoserver"},
		{&p.mcphub, "mcphub", p.root, "./cmd/mcphub"},
		{&p.hostile, "hostileserver", p.root, "./internal/hostile/hostileserver"},
	} {
		*program.path = filepath.Join(p.dir, program.name)
		if runtime.GOOS == "windows" {
			*program.path += ".exe"
		}
		if err := goBuild(ctx, program.dir, *program.path, program.from); err != nil {
			p.remove()
			return p, err
		}
	}
	return p, nil
}

func goBuild(ctx context.Context, dir, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, said)
	}
	return nil
}

func (p programs) remove() { _ = os.RemoveAll(p.dir) }
