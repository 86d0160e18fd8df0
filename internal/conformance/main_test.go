//go:build unix

package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
)

// binaryVariable names the mcphub binary to test. The driver reads it. If it is not set, the binary is built for the
// run.
const binaryVariable = "MCPHUB_BINARY"

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
	dir, err := os.MkdirTemp("", "mcphub-conformance")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer doortest.OwnState()()
	const module = "github.com/mcphub-go/mcphub/"
	build := []string{module + "internal/conformance/driver", module + "internal/conformance/sdkdriver"}
	hub := os.Getenv(binaryVariable)
	if hub == "" {
		build = append(build, module+"cmd/mcphub")
		hub = filepath.Join(dir, "mcphub")
	}
	if hub, err = filepath.Abs(hub); err != nil {
		return 1, err
	}
	// The path is absolute because the suite starts the driver in the directory of this package.
	if err := os.Setenv(binaryVariable, hub); err != nil {
		return 1, err
	}
	if out, err := exec.Command("go", append([]string{"build", "-o", dir + string(filepath.Separator)},
		build...)...).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w\n%s", err, out)
	}
	hubDriver, sdkDriver = filepath.Join(dir, "driver"), filepath.Join(dir, "sdkdriver")
	return m.Run(), nil
}
