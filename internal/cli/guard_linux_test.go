package cli_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// The command guard, told the marker of a hub, ends the processes that carry it when its input ends, and none when the
// hub has said that it is done.
func TestGuardCommand_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	for _, goodbye := range []bool{false, true} {
		marker := strings.Repeat("5eed", 5) + map[bool]string{false: "0000", true: "0001"}[goodbye]
		stray := exec.Command("/bin/sleep", "60")
		stray.Env = []string{process.MarkerVariable + "=" + marker + "/1"}
		stray.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := stray.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stray.Process.Kill(); _ = stray.Wait() })
		death := doortest.Watch(t, stray.Process.Pid)

		guard := p.Command("guard")
		in, err := guard.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := guard.Start(); err != nil {
			t.Fatal(err)
		}
		lines := json.NewEncoder(in)
		_ = lines.Encode(map[string]any{"marker": marker})
		if goodbye {
			_ = lines.Encode(map[string]any{"done": true})
		}
		_ = in.Close()
		if err := guard.Wait(); err != nil {
			t.Errorf("goodbye %v: the guard: %v", goodbye, err)
		}
		if goodbye {
			if !death.Alive(t) {
				t.Error("it was killed after an orderly end")
			}
			continue
		}
		death.Wait(t, faketime.Long)
	}
}

// On a terminal the guard would wait for a hub for ever.
func TestGuardRefusesTerminal(t *testing.T) {
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here")
	}
	defer main.Close()
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var said strings.Builder
	env := clitest.Printing(io.Discard, &said)
	env.In = terminal
	if status := cli.Run(env, []string{"guard"}); status != exit.Usage ||
		!strings.Contains(said.String(), "through a pipe") {
		t.Errorf("status %d: %s", status, said.String())
	}
}
