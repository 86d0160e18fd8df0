//go:build unix

package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
)

// hubDriver and sdkDriver are the clients that the suite starts, built for this run.
var hubDriver, sdkDriver string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	defer doortest.Begin()()
	hub, err := doortest.BinaryPath()
	if err != nil {
		return 1, err
	}
	// The driver reads it.
	if err := os.Setenv(doortest.BinaryVariable, hub); err != nil {
		return 1, err
	}
	for program, path := range map[string]*string{"driver": &hubDriver, "sdkdriver": &sdkDriver} {
		*path = filepath.Join(doortest.RunDir(), program)
		if err := doortest.Build(*path, "", "github.com/mcphub-go/mcphub/internal/conformance/"+program); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}
