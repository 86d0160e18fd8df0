package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// shows reports whether a terminal shows what is typed on it.
func shows(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// TestTypistHidesSecrets_real: a secret line is not shown while it is typed, an open one is; after close the terminal
// shows again what is typed, even if a secret line was awaited.
func TestTypistHidesSecrets_real(t *testing.T) {
	master, slave := openTerminal(t)
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
		if err := until(ctx, "a terminal that hides what is typed", func() (bool, error) {
			return !shows(t, slave), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	ty := newTypist(slave)
	ty.want(false)
	types("open")
	if line := <-ty.lines; line != (typed{text: "open"}) {
		t.Errorf("typed %+v", line)
	}
	ty.want(true)
	hidden()
	types("s3cret")
	if line := <-ty.lines; line != (typed{text: "s3cret"}) {
		t.Errorf("typed %+v", line)
	}
	if !shows(t, slave) {
		t.Error("the terminal still hides what is typed")
	}
	ty.want(true)
	hidden()
	ty.close()
	if !shows(t, slave) {
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
	<-ty.lines
}
