package console_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestTypistHidesSecrets_real: a secret line is not shown while it is typed, an open one is; after close the terminal
// shows again what is typed, even if a secret line was awaited.
func TestTypistHidesSecrets_real(t *testing.T) {
	master, slave := clitest.OpenTerminal(t)
	defer master.Close()
	defer slave.Close()
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	defer done()
	types := func(line string) {
		t.Helper()
		if _, err := io.WriteString(master, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	hidden := func() {
		t.Helper()
		for clitest.Shows(t, slave) {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				t.Fatal("the terminal does not hide what is typed")
			}
		}
	}
	ty := console.NewTypist(slave)
	ty.Want(false)
	types("open")
	if line := <-ty.Lines; line != (console.Typed{Text: "open"}) {
		t.Errorf("typed %+v", line)
	}
	ty.Want(true)
	hidden()
	types("s3cret")
	if line := <-ty.Lines; line != (console.Typed{Text: "s3cret"}) {
		t.Errorf("typed %+v", line)
	}
	if !clitest.Shows(t, slave) {
		t.Error("the terminal still hides what is typed")
	}
	ty.Want(true)
	hidden()
	ty.Close()
	if !clitest.Shows(t, slave) {
		t.Error("the terminal still hides what is typed, after the end")
	}
	if _, err := io.WriteString(slave, "END"); err != nil {
		t.Fatal(err)
	}
	screen := ""
	for buffer := make([]byte, 100); !strings.Contains(screen, "END"); {
		n, err := master.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		screen += string(buffer[:n])
	}
	if !strings.Contains(screen, "open") || strings.Contains(screen, "s3cret") {
		t.Errorf("the screen shows %q", screen)
	}
	types("") // lets the last read end
	<-ty.Lines
}
