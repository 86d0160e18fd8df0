package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/mcphub-go/mcphub/editors/webview"
	"github.com/mcphub-go/mcphub/internal/web"
)

// What a person can do to get another link.
const (
	pressEnter = "Press Enter in the terminal where mcphub runs: it prints another one."
	startAnew  = "Start mcphub anew for another one."
)

// site is the page, which is served over one hub to the browsers of this machine.
type site struct {
	server *web.Server
	stop   context.CancelCauseFunc
	ended  chan struct{} // closed when the page is no longer served; err then says why
	err    error
}

var errSiteClosed = errors.New("the page is served no more")

// openSite serves the page. The caller must close the site.
func openSite(o web.Options, port int) (*site, error) {
	l, err := web.Listen(port)
	if err != nil {
		return nil, fmt.Errorf("the page cannot be served: %w", err)
	}
	frames, err := web.ListenSandbox()
	if err != nil {
		frames = nil // the page works without views
	}
	o.Files, o.Sandbox = webview.Files, frames
	server, err := web.New(l, o)
	if err != nil {
		for _, one := range append(frames, l) {
			_ = one.Close()
		}
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &site{server: server, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = server.Serve(ctx)
	}()
	return s, nil
}

// close closes every window and waits for that.
func (s *site) close() {
	s.stop(errSiteClosed)
	<-s.ended
}

// browse serves the page over a hub until ctx ends. Then it closes the hub before the page, so that the page shows how
// everything ends. lines are what a person types, nil if nobody does.
func browse(ctx context.Context, env environment, client *hubClient, o webFlags, lines <-chan string) error {
	another := pressEnter
	if lines == nil {
		another = startAnew
	}
	s, err := openSite(web.Options{Editor: client.Editor, Another: another, ConfigWrites: o.configWrites,
		Registry: o.registry, Demo: offeredDemo()}, o.port)
	if err != nil {
		closeHub(env, client, closeTime)
		return err
	}
	defer s.close()
	defer closeHub(env, client, closeTime)

	link := s.server.Link()
	env.say("The page is at the address below. It opens one browser, once. %s Ctrl-C ends everything.", another)
	fmt.Fprintln(env.stdout, link)
	if o.open {
		if err := openBrowser(link); err != nil {
			env.say("mcphub: no browser could be opened (%v): open the address by hand", err)
		}
	}
	for {
		select {
		case _, ok := <-lines:
			if !ok { // the terminal has closed; SIGHUP or Ctrl-C ends the command
				lines = nil
				continue
			}
			fmt.Fprintln(env.stdout, s.server.Link())
		case <-client.Done():
			return failuref("UNAVAILABLE", "the hub has ended; MCPHUB_LOG=info shows what it says")
		case <-s.ended:
			return fmt.Errorf("the page is served no more: %w", s.err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// offeredDemo returns this program as a demo server, which a page without servers offers. Its entry is written to a
// file, so it is launched only after a consent that shows its command.
func offeredDemo() *web.Demo {
	binary, err := os.Executable()
	if err != nil {
		return nil // the page says how to see the demo otherwise
	}
	entry, err := json.Marshal(map[string]any{
		"command": binary,
		"args":    []string{"demo-server"},
		"era":     "legacy", // in this era a server can ask and withdraw questions
	})
	if err != nil {
		panic(err) // strings always marshal
	}
	return &web.Demo{Server: "mcphub-demo", Command: binary, EntryJSON: string(entry)}
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
