package doortest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// BinaryVariable names a mcphub that was built already; `make test` builds it once for all packages. If it is unset,
// each test binary that needs one builds its own.
const BinaryVariable = "MCPHUB_BINARY"

// Binary returns the path of a real mcphub: that of BinaryVariable, else one that is built once for each test binary.
// [RemoveBinary], which [Main] calls, removes its directory.
func Binary(t testing.TB) string {
	t.Helper()
	if built := os.Getenv(BinaryVariable); built != "" {
		return built
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// RemoveBinary removes what Binary has built, if anything. It returns code, so that another TestMain can end with it:
//
//	os.Exit(doortest.RemoveBinary(m.Run()))
func RemoveBinary(code int) int {
	builtMu.Lock()
	defer builtMu.Unlock()
	if builtDir != "" {
		_ = os.RemoveAll(builtDir)
	}
	return code
}

var (
	builtMu  sync.Mutex
	builtDir string // guarded by builtMu
)

var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mcphub-test")
	if err != nil {
		return "", err
	}
	builtMu.Lock()
	builtDir = dir
	builtMu.Unlock()
	name := "mcphub"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	out, err := exec.Command("go", "build", "-o", path, "github.com/mcphub-go/mcphub/cmd/mcphub").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
