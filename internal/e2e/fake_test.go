//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// beFake is a server over stdio that misbehaves as its flags and its tools say. Every tool is always there.
func beFake(args []string) int {
	flags := flag.NewFlagSet("fake", flag.ContinueOnError)
	var (
		pids    = flags.String("pids", "", "write the process ids of the server and its child to `FILE`")
		family  = flags.Bool("family", false, "start a child that ignores SIGTERM and holds on to the streams")
		exits   = flags.Bool("exits", false, "exit on server/discover")
		mute    = flags.String("mute", "", "never answer this `METHOD`")
		chatter = flags.Bool("chatter", false, "print what is no message, before anything else")
	)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	s := fakeserver.New()
	if *exits {
		s.Handle("server/discover", func(*fakeserver.CallContext) { os.Exit(3) })
	}
	if *mute != "" {
		s.Handle(*mute, func(c *fakeserver.CallContext) { _ = c.Hang() })
	}
	addTools(s)
	if err := writeFamily(*pids, *family); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		return 1
	}
	if *chatter {
		if _, err := os.Stdout.WriteString(noMessages); err != nil {
			return 1
		}
	}
	if err := s.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		return 1
	}
	return 0
}

// noMessages are lines that are no JSON-RPC messages. Without the blank ones there are badLines of them.
const (
	noMessages = "Welcome to the fake server!\n\xef\xbb\xbf\n   \n{\"half\": \n[]\nnull\n42\n\"text\"\n\x00\xff\xfe\n{\"jsonrpc\":\"2.0\"}\n"
	badLines   = 8
)

// hugeLine is the length of the line that the tool giant answers.
const hugeLine = 100_000_000

func addTools(s *fakeserver.Server) {
	s.Tool("echo", func(c *fakeserver.CallContext) {
		var a struct{ Text string }
		_ = json.Unmarshal(c.Arguments(), &a)
		c.Text(a.Text)
	})
	s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang() })
	// A question that is never withdrawn; the call waits for its answer.
	s.Tool("ask", func(c *fakeserver.CallContext) {
		if a, ok := <-askName(c).Response(); ok {
			c.Text("answered " + string(a.Result))
		}
	})
	s.Tool("garbage", func(c *fakeserver.CallContext) {
		_ = s.Send("a line of text\r\n\n\xef\xbb\xbf\n{\"jsonrpc\":\"2.0\",\"id\":\n}}}}\n" + strings.Repeat("x", 200_000) +
			"\n")
		c.Text("after the garbage")
	})
	s.Tool("giant", func(c *fakeserver.CallContext) {
		var line bytes.Buffer
		fmt.Fprintf(&line, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, c.ID)
		line.Write(bytes.Repeat([]byte("0123456789"), hugeLine/10))
		line.WriteString(`"}]}}` + "\n")
		_ = s.Send(line.String())
	})
	// The server reads nothing after this call.
	s.Tool("deaf", func(c *fakeserver.CallContext) {
		s.PauseReading()
		c.Text("I hear nothing any more")
	})
}

const nameQuestion = `{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`

func askName(c *fakeserver.CallContext) *fakeserver.OutRequest {
	return c.Request("elicitation/create", nameQuestion)
}

// family are the processes of a fake server.
type family struct{ Server, Child int }

func writeFamily(path string, withChild bool) error {
	f := family{Server: os.Getpid()}
	if withChild {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		// It keeps the pipes to the hub open, as a careless server's child does.
		child := exec.Command(self, "child")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		ready, err := child.StderrPipe()
		if err != nil {
			return err
		}
		if err := child.Start(); err != nil {
			return err
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil { // from now on it ignores SIGTERM
			return err
		}
		f.Child = child.Process.Pid
	}
	if path == "" {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// beChild sleeps for ten minutes, and ignores SIGTERM, SIGHUP and SIGINT.
func beChild([]string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	fmt.Fprintln(os.Stderr, "asleep")
	<-time.After(10 * time.Minute)
	return 0
}

// familyOf waits until a fake server has written down its processes.
func familyOf(t *testing.T, path string) family {
	t.Helper()
	var f family
	until(t, "the server has written "+path, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && json.Unmarshal(text, &f) == nil
	})
	return f
}
