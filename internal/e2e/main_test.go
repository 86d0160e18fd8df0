//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// The programs that this test binary can be run as; see the file of each.
var roles = map[string]func(args []string) int{
	"proxy":   beProxy,
	"fake":    beFake,
	"child":   beChild,
	"host":    beHost,
	"witness": beWitness,
}

// peerProgram is this test binary, for its roles, where tests can link to it.
var peerProgram string

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
	defer doortest.Begin()()
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	if peerProgram, err = doortest.Stage(self, "peer"); err != nil {
		return 1, err
	}
	for variable, name := range map[string]string{peers.GoSDKVariable: "gosdk", peers.MCPGoVariable: "mcpgo"} {
		if os.Getenv(variable) != "" {
			continue
		}
		if err := os.Setenv(variable, filepath.Join(doortest.RunDir(), name)); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// goSDK builds the server on the Go SDK once, for all tests that start it, unless it is built already.
var goSDK = sync.OnceValue(func() error {
	return buildPeer(peers.GoSDKVariable, "", "github.com/mcphub-go/mcphub/internal/peers/gosdk")
})

// mcpGo is goSDK for mcp-go, whose folder is a module of its own.
var mcpGo = sync.OnceValue(func() error {
	return buildPeer(peers.MCPGoVariable, filepath.Join("..", "peers", "mcpgo"), ".")
})

func buildPeer(variable, folder, pkg string) error {
	path := os.Getenv(variable)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return doortest.Build(path, folder, pkg)
}
