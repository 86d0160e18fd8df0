package jsonrpc_test

import (
	"bytes"
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

// What TryWrite has kept of a message is written first by the next WriteMessages, byte for byte.
func TestTryWriteKeepsOrder(t *testing.T) {
	r, w, err := os.Pipe()
	check(t, "pipe", err, error(nil))
	c := jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{})
	var want []string
	taken, done := 0, true
	for i := 0; done; i++ {
		msg := strings.Repeat(string(rune('a'+i%26)), 10_000+i)
		if taken, done, err = c.TryWrite([]byte(msg)); err != nil {
			t.Fatal(err)
		}
		if done || taken > 0 {
			want = append(want, msg)
		}
	}
	if again, _, _ := c.TryWrite([]byte("x")); taken > 0 && again != 0 {
		t.Error("TryWrite overtook what it had kept")
	}
	written := make(chan error, 1)
	go func() { written <- c.WriteMessages([][]byte{[]byte("end")}) }()
	for _, line := range append(want, "end") {
		msg, err := c.ReadMessage(nil)
		if err != nil || string(msg.Text) != line {
			t.Fatalf("%d bytes %v, want %d", len(msg.Text), err, len(line))
		}
	}
	check(t, "write", <-written, error(nil))
	check(t, "write again", c.WriteMessages([][]byte{[]byte("more")}), error(nil))
	msg, err := c.ReadMessage(nil)
	check(t, "read again", string(msg.Text), "more")
	check(t, "read again", err, error(nil))
	bytes := 0
	for _, line := range append(want, "end", "more") {
		bytes += len(line) + 1
	}
	check(t, "progress", c.WriteProgress(), uint64(bytes))
	check(t, "close", c.Close(), error(nil))
	check(t, "close again", c.Close(), error(nil))
	if err := c.WriteMessages([][]byte{[]byte("x")}); err == nil {
		t.Error("written after close")
	}
}

// One WriteMessages writes small and large messages in order, through any kind of writer.
func TestWriteMessages(t *testing.T) {
	var batch [][]byte
	var want strings.Builder
	for i := range 300 {
		msg := strings.Repeat(string(rune('a'+i%26)), i*i)
		batch = append(batch, []byte(msg))
		want.WriteString(msg + "\n")
	}
	var got bytes.Buffer
	c := jsonrpc.NewLineConn(strings.NewReader(""), &got, jsonrpc.LineConnOptions{})
	check(t, "write", c.WriteMessages(batch), error(nil))
	check(t, "same", got.String() == want.String(), true)
	check(t, "progress", c.WriteProgress(), uint64(want.Len()))

	r, w, err := os.Pipe()
	check(t, "pipe", err, error(nil))
	c = jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{Close: w.Close})
	all := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r)
		all <- b
	}()
	check(t, "write", c.WriteMessages(batch), error(nil))
	check(t, "empty", c.WriteMessages(nil), error(nil))
	check(t, "close", c.Close(), error(nil))
	check(t, "same", string(<-all) == want.String(), true)
}
