//go:build unix

package mcpserver_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// ends are this process's input and output, and the client's side of them.
type ends struct {
	in, out          *os.File
	toInput, fromOut *os.File
}

func pipes(t *testing.T) ends {
	in, toInput, err1 := os.Pipe()
	fromOut, out, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return blocking(t, ends{in, out, toInput, fromOut})
}

// sockets opens socket pairs, which Node uses as stdin and stdout of its children.
func sockets(t *testing.T) ends {
	pair := func() (ours, theirs *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	}
	in, toInput := pair()
	out, fromOut := pair()
	return blocking(t, ends{in, out, toInput, fromOut})
}

// blocking sets in and out to blocking mode, as a process gets its stdin and stdout.
func blocking(t *testing.T, e ends) ends {
	for _, f := range []*os.File{e.in, e.out} {
		if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{e.in, e.out, e.toInput, e.fromOut} {
			f.Close()
		}
	})
	return e
}

func blocks(t *testing.T, f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK == 0
}

// TestStandard: messages pass in both directions, among them one that is larger than a pipe; Close unblocks the reader
// and the writer, and leaves stdin and stdout of the process open and in blocking mode.
func TestStandard(t *testing.T) {
	for name, open := range map[string]func(*testing.T) ends{"pipes": pipes, "sockets": sockets} {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			conn := mcpserver.Standard(e.in, e.out)
			if _, err := io.WriteString(e.toInput, `{"hello":1}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if msg, err := conn.ReadMessage(nil); err != nil || string(msg.Text) != `{"hello":1}` {
				t.Fatalf("%s, %v", msg.Text, err)
			}
			long := `"` + strings.Repeat("x", 1<<20) + `"` + "\n"
			written := make(chan error, 1)
			write := func() {
				_, err := conn.Write([]byte(long))
				written <- err
			}
			go write()
			line, err := bufio.NewReader(e.fromOut).ReadString('\n')
			if err != nil || line != long || <-written != nil {
				t.Fatalf("%d bytes, %v", len(line), err)
			}
			if n, err := conn.TryWrite([]byte("1\n")); n != 2 || err != nil {
				t.Errorf("a write without waiting took nothing: %v", err)
			}

			read := make(chan error, 1)
			go func() {
				_, err := conn.ReadMessage(nil)
				read <- err
			}()
			go write()
			// The write has begun, and cannot end: the client reads no more of it.
			begun := make([]byte, 3)
			if _, err := io.ReadFull(e.fromOut, begun); err != nil || string(begun) != "1\n\"" {
				t.Errorf("the client got %q, %v", begun, err)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			if err := <-read; err == nil {
				t.Error("a read went on after Close")
			}
			if err := <-written; err == nil {
				t.Error("a write went on after Close")
			}
			if !blocks(t, e.in) || !blocks(t, e.out) {
				t.Error("what the process was started with does not block any more")
			}
			rest := make(chan string, 1)
			go func() { // the pipe is still full of the write that was ended
				text, _ := io.ReadAll(e.fromOut)
				rest <- string(text)
			}()
			if _, err := e.out.WriteString("last words"); err != nil {
				t.Errorf("the output was closed: %v", err)
			}
			e.out.Close()
			if text := <-rest; !strings.HasSuffix(text, "last words") {
				t.Errorf("the last words are not the last of %d bytes", len(text))
			}
		})
	}
}

// TestStandardEnds: at the end of the input the last line is returned, even without a newline, and then io.EOF.
func TestStandardEnds(t *testing.T) {
	e := pipes(t)
	conn := mcpserver.Standard(e.in, e.out)
	defer conn.Close()
	if _, err := io.WriteString(e.toInput, `{"last":1}`); err != nil {
		t.Fatal(err)
	}
	e.toInput.Close()
	if msg, err := conn.ReadMessage(nil); err != nil || string(msg.Text) != `{"last":1}` {
		t.Errorf("%s, %v", msg.Text, err)
	}
	if _, err := conn.ReadMessage(nil); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

// TestStandardOfAFile: a file, which cannot be polled, works as well.
func TestStandardOfAFile(t *testing.T) {
	name := t.TempDir() + "/in"
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out strings.Builder
	conn := mcpserver.Standard(in, &out)
	defer conn.Close()
	if msg, err := conn.ReadMessage(nil); err != nil || string(msg.Text) != "{}" {
		t.Errorf("%s, %v", msg.Text, err)
	}
	if _, err := conn.Write([]byte("1\n")); err != nil || out.String() != "1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
