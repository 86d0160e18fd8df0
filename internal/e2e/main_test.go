//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// binaryVariable names the mcphub to test. Unset: it is built for the run.
const binaryVariable = "MCPHUB_BINARY"

// The programs that this test binary can be run as; see the file of each.
var roles = map[string]func(args []string) int{
	"proxy":   beProxy,
	"fake":    beFake,
	"child":   beChild,
	"host":    beHost,
	"witness": beWitness,
}

// runDir holds the binaries of this run. It is set before the first test starts: an executable that is written while
// other processes are forked cannot be run for a moment ("text file busy").
var runDir string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			os.Exit(role(os.Args[2:]))
		}
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if runDir, err = os.MkdirTemp("", "mcphub-e2e"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(runDir)) }()
	defer doortest.OwnState()()
	hub := filepath.Join(runDir, "mcphub")
	if built := os.Getenv(binaryVariable); built != "" {
		err = install(built, hub)
	} else {
		var out []byte
		if out,
			err = exec.Command("go", "build", "-o", hub, "github.com/mcphub-go/mcphub/cmd/mcphub").CombinedOutput(); err != nil {
			err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if err != nil {
		return 1, err
	}
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	if err := install(self, filepath.Join(runDir, "peer")); err != nil {
		return 1, err
	}
	for variable, name := range map[string]string{peers.GoSDKVariable: "gosdk", peers.MCPGoVariable: "mcpgo"} {
		if err := os.Setenv(variable, filepath.Join(runDir, name)); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// goSDK builds the server on the Go SDK once, for all tests that start it. Another process writes it, so it can be run
// at once.
var goSDK = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", os.Getenv(peers.GoSDKVariable),
		"github.com/mcphub-go/mcphub/internal/peers/gosdk").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// mcpGo is goSDK for mcp-go, whose folder is a module of its own.
var mcpGo = sync.OnceValue(func() error {
	cmd := exec.Command("go", "build", "-o", os.Getenv(peers.MCPGoVariable), ".")
	cmd.Dir = filepath.Join("..", "peers", "mcpgo")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// install makes a hard link to the file, or copies it where that is not possible.
func install(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
