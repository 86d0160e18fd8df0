package soak

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/peers"
)

func TestMain(m *testing.M) {
	end := doortest.Begin()
	code := m.Run()
	end()
	os.Exit(code)
}

// serveBuilt writes a config with both servers, over HTTP, and starts mcphub mcp --http. Clients on pipes start one
// each.
func (c *crossing) serveBuilt() {
	c.t.Helper()
	entry, _ := c.subject().connect(c.t, c.witness)
	beside := peers.GoSDK.HTTP(c.t)
	journaled(c.witness, beside, "b#")
	c.config = filepath.Join(c.t.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"servers":{"s":%s,"b":{"type":"http","url":%q,"era":"legacy","alwaysAllow":["*"]}}}`, entry,
		beside.URL)
	if err := os.WriteFile(c.config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if c.way == "stdio" {
		return
	}
	c.process = c.built("--http", "127.0.0.1:0")
	out, err := c.process.StdoutPipe()
	if err := errors.Join(err, c.process.Start()); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = c.process.Process.Kill() }) // if it has not ended in order
	lines := bufio.NewReader(out)
	address, err1 := lines.ReadString('\n')
	token, err2 := lines.ReadString('\n')
	if err := errors.Join(err1, err2); err != nil {
		c.t.Fatal(err)
	}
	c.address, c.token = strings.TrimSpace(address), strings.TrimSpace(strings.TrimPrefix(token, "Authorization: Bearer "))
}

// built is a command that serves both servers to clients.
func (c *crossing) built(args ...string) *exec.Cmd {
	cmd := exec.Command(doortest.Binary(c.t), append([]string{"mcp", c.config}, args...)...)
	cmd.Dir, cmd.Stderr = filepath.Dir(c.config), c.t.Output()
	cmd.Env = append(os.Environ(), "MCPHUB_STATE_DIR="+c.t.TempDir()) // each hub its own
	return cmd
}

// runBuilt runs the command for one client on pipes, which it owns, until the client has closed them.
func (c *crossing) runBuilt(in, out *os.File) {
	cmd := c.built()
	cmd.Stdin, cmd.Stdout = in, out
	err := cmd.Start()
	if err := errors.Join(err, in.Close(), out.Close()); err != nil {
		c.t.Error(err)
		return
	}
	if err := cmd.Wait(); err != nil {
		c.bad("mcphub mcp did not end in order", "%v", err)
	}
}

// endBuilt ends the program that serves over HTTP.
func (c *crossing) endBuilt() {
	if c.process == nil {
		return
	}
	err := c.process.Process.Signal(syscall.SIGTERM)
	if err := errors.Join(err, c.process.Wait()); err != nil {
		c.bad("mcphub mcp did not end in order", "%v", err)
	}
}
