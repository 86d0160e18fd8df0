package jsonrpc_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// The buffer of a huge line is released when the next line is read.
func TestReadBufferShrinks_amount(t *testing.T) {
	r, w := io.Pipe()
	c := jsonrpc.NewLineConn(r, io.Discard, jsonrpc.LineConnOptions{})
	go func() {
		part := strings.Repeat("x", 1<<20)
		for range 40 {
			io.WriteString(w, part)
		}
		io.WriteString(w, "\n1\n")
		io.WriteString(w, "2\n")
	}()
	for range 2 {
		if _, err := c.ReadMessage(nil); err != nil {
			t.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	heap := m.HeapAlloc
	if msg, err := c.ReadMessage(nil); err != nil || string(msg.Text) != "2" {
		t.Fatal(string(msg.Text), err)
	}
	if heap > 30<<20 {
		t.Errorf("%d bytes of heap while idle after a huge line", heap)
	}
	runtime.KeepAlive(c)
	c.Close()
}

// A long line of blanks is not a message: no caller takes over what was charged for it, so the LineConn releases that.
func TestALongBlankLineHoldsNothing(t *testing.T) {
	budget := bounds.NewBudget("lines", 64<<20, 64<<20)
	blanks := strings.Repeat(" ", 200<<10) + "\n"
	long := `"` + strings.Repeat("x", 200<<10) + `"`
	c := jsonrpc.NewLineConn(strings.NewReader(blanks+blanks+"1\n"+blanks+long+"\n2\n"), io.Discard,
		jsonrpc.LineConnOptions{})
	account := budget.Account("s")
	for i, want := range []string{"1", long, "2"} {
		msg, err := c.ReadMessage(account)
		if err != nil || string(msg.Text) != want {
			t.Fatal(i, len(msg.Text), err)
		}
		if got := budget.Used(); got != msg.Hold.Bytes() || (got > 0) != (want == long) {
			t.Errorf("message %d: %d bytes are held, %d with it", i, got, msg.Hold.Bytes())
		}
		msg.Hold.Release()
	}
}

// What TryWrite leaves of a line can be written next, and each byte is counted once.
func TestTryWriteFillsThePipe(t *testing.T) {
	r, w, err := os.Pipe()
	check(t, "pipe", err, error(nil))
	c := jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{})
	var want []string
	var left []byte
	for i := 0; len(left) == 0; i++ {
		line := strings.Repeat(string(rune('a'+i%26)), 10_000+i) + "\n"
		n, err := c.TryWrite([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		want, left = append(want, line), []byte(line)[n:]
	}
	if n, err := c.TryWrite(left); n != 0 || err != nil {
		t.Errorf("a full pipe took %d bytes, %v", n, err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.Write(append(left, "end\n"...))
		written <- err
	}()
	want = append(want, "end\n")
	for _, line := range want {
		msg, err := c.ReadMessage(nil)
		if err != nil || string(msg.Text)+"\n" != line {
			t.Fatalf("%d bytes %v, want %d", len(msg.Text), err, len(line))
		}
	}
	check(t, "write", <-written, error(nil))
	check(t, "written", c.Written(), uint64(len(strings.Join(want, ""))))
	check(t, "close", c.Close(), error(nil))
	check(t, "close again", c.Close(), error(nil))
	if _, err := c.Write([]byte("x\n")); err == nil {
		t.Error("written after close")
	}
}

// Small and large messages are written in order, through any kind of writer.
func TestWriteMessages(t *testing.T) {
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"%s"}`+"\n", strings.Repeat(string(rune('a'+i%26)), i*i))
	}
	write := func(c *jsonrpc.LineConn) {
		p := jsonrpc.NewPeer(c, jsonrpc.Options{})
		for i := range 300 {
			check(t, "notify", p.Notify(strings.Repeat(string(rune('a'+i%26)), i*i), nil), error(nil))
		}
		p.Flush(t.Context())
		check(t, "written", c.Written(), uint64(want.Len()))
		check(t, "close", p.Close(errTestOver), error(nil))
	}
	var got bytes.Buffer
	silent, _ := io.Pipe()
	write(jsonrpc.NewLineConn(silent, &got, jsonrpc.LineConnOptions{Close: silent.Close}))
	check(t, "same", got.String() == want.String(), true)

	r, w, err := os.Pipe()
	check(t, "pipe", err, error(nil))
	all := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r)
		all <- b
	}()
	silent, _ = io.Pipe()
	write(jsonrpc.NewLineConn(silent, w, jsonrpc.LineConnOptions{}))
	check(t, "same", string(<-all) == want.String(), true)
}
