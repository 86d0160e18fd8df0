// Package browser serves the editor's page over a hub to the browsers of this machine.
//
// What must not live here: the page (editors/page), and its server (internal/web).
package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/editors/page"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/web"
)

// Flags are the flags for serving the page.
type Flags struct {
	Port int
	Open bool
}

// Register defines the flags.
func (o *Flags) Register(set *pflag.FlagSet) {
	set.IntVar(&o.Port, "port", 0, "PORT\tserve the page at this port of this machine; default: a free one")
	set.BoolVar(&o.Open, "open", false, "open the page in the browser")
}

// Check returns an error if the flags are wrong.
func (o *Flags) Check() error {
	if o.Port < 0 || o.Port > 65535 {
		return fmt.Errorf("--port %d: a port is a number from 1 to 65535, or 0 for a free one", o.Port)
	}
	return nil
}

// What a person can do to get another link.
const (
	pressEnter = "Press Enter in the terminal where mcphub runs: it prints another one."
	StartAnew  = "Start mcphub anew for another one."
)

// Site is the page, which is served over one hub to the browsers of this machine.
type Site struct {
	server *web.Server
	stop   context.CancelCauseFunc
	ended  chan struct{} // closed when the page is no longer served; err then says why
	err    error
}

var errSiteClosed = errors.New("the page is served no more")

// Open serves the page. The caller must close the site.
func Open(o web.Options, port int) (*Site, error) {
	l, err := web.Listen(port)
	if err != nil {
		return nil, fmt.Errorf("the page cannot be served: %w", err)
	}
	frames, err := web.ListenSandbox()
	if err != nil {
		frames = nil // the page works without views
	}
	o.Files, o.Sandbox = page.Files, frames
	server, err := web.New(l, o)
	if err != nil {
		for _, one := range append(frames, l) {
			_ = one.Close()
		}
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Site{server: server, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = server.Serve(ctx)
	}()
	return s, nil
}

// Close closes every window and waits for that.
func (s *Site) Close() {
	s.stop(errSiteClosed)
	<-s.ended
}

// Serve serves the page over a hub until ctx ends. Then it closes the hub before the page, so that the page shows how
// everything ends. A person at a terminal gets another link with Enter.
func Serve(ctx context.Context, f *door.Factory, client *door.Client, page Flags, o web.Options) error {
	lines := typedLines(f.Streams)
	o.Editor, o.Another, o.Demo = client.Editor, pressEnter, offeredDemo()
	if lines == nil {
		o.Another = StartAnew
	}
	s, err := Open(o, page.Port)
	if err != nil {
		f.Close(client, door.CloseTime)
		return err
	}
	defer s.Close()
	defer f.Close(client, door.CloseTime)
	s.Announce(f.Streams, f.Out, o.Another+" Ctrl-C ends everything.", page.Open)
	for {
		select {
		case _, ok := <-lines:
			if !ok { // the terminal has closed; SIGHUP or Ctrl-C ends the command
				lines = nil
				continue
			}
			fmt.Fprintln(f.Out, s.server.Link())
		case <-client.Done():
			return exit.Failf("UNAVAILABLE", "the hub has ended; MCPHUB_LOG=info shows what it says")
		case <-s.ended:
			return fmt.Errorf("the page is served no more: %w", s.err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Announce prints the address of the page to w, and opens it in the browser if that is wanted. note says what a person
// can do then.
func (s *Site) Announce(to console.Streams, w io.Writer, note string, open bool) {
	link := s.server.Link()
	to.Say("The page is at the address below. It opens one browser, once. %s", note)
	fmt.Fprintln(w, link)
	if open {
		if err := openBrowser(link); err != nil {
			to.Say("mcphub: no browser could be opened (%v): open the address by hand", err)
		}
	}
}

// typedLines returns the lines that a person types, nil if there is nobody.
func typedLines(s console.Streams) <-chan string {
	if !s.Interactive() {
		return nil
	}
	return console.ReadLines(s.In)
}

// offeredDemo returns this program as a demo server, which a page without servers offers. Its entry is written to a
// file, so it is launched only after a consent that shows its command.
func offeredDemo() *web.Demo {
	binary, err := os.Executable()
	if err != nil {
		return nil // the page says how to see the demo otherwise
	}
	return &web.Demo{Server: "mcphub-demo", Command: binary, EntryJSON: console.JSONOf(map[string]any{
		"command": binary,
		"args":    []string{"demo-server"},
		"era":     "legacy", // in this era a server can ask and withdraw questions
	})}
}

// openBrowser makes the system open an address. The process that it starts may run as long as the browser, so it does
// not wait for it.
func openBrowser(link string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	case "darwin":
		cmd = exec.Command("open", link)
	default:
		cmd = exec.Command("xdg-open", link)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
