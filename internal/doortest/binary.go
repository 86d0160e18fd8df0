package doortest

import (
	"errors"
	"fmt"
	"io"
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
func Binary(t testing.TB) string {
	t.Helper()
	path, err := BinaryPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// BinaryPath is Binary for where there is no test, after [Begin].
func BinaryPath() (string, error) {
	if built := os.Getenv(BinaryVariable); built != "" {
		return built, nil
	}
	return binary()
}

var binary = sync.OnceValues(func() (string, error) {
	name := "mcphub"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(runDir, name)
	return path, Build(path, "", "github.com/mcphub-go/mcphub/cmd/mcphub")
})

// Build builds a program of the module in a folder, "" for that of the caller. Another process writes it, so it can be
// run at once.
func Build(path, folder, pkg string) error {
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// RunDir is the directory of this run, for programs that it builds. It is there after [Begin].
func RunDir() string { return runDir }

// Stage puts a program into the directory of this run, where tests can make hard links to it, and returns its path
// there. It must be called before the first test: an executable that is written while other processes are forked cannot
// be run for a moment ("text file busy").
func Stage(program, name string) (string, error) {
	path := filepath.Join(runDir, name)
	return path, linkOrCopy(program, path)
}

// linkOrCopy makes a hard link to the file, or copies it where that is not possible.
func linkOrCopy(from, to string) error {
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
