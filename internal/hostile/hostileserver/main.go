// Command hostileserver runs a hostile server, as `hostileserver BEHAVIOUR [stdio|http|sse]`. Without arguments it
// lists the behaviours. Over HTTP it prints its address as one line on stdout, and ends with its stdin. Use it only for
// tests and measurements.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/hostile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostileserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		for _, name := range hostile.Names() {
			fmt.Printf("%-18s %s\n", name, hostile.About(name))
		}
		return nil
	}
	s, err := hostile.New(args[0])
	if err != nil {
		return err
	}
	if s.Stderr != nil {
		go s.Stderr(os.Stderr, nil)
	}
	switch {
	case len(args) == 1 || args[1] == "stdio":
		return s.Serve(context.Background(), os.Stdin, os.Stdout)
	case args[1] == "http":
		return serve(s, fakeserver.PathMCP)
	case args[1] == "sse":
		return serve(s, fakeserver.PathSSE)
	}
	return fmt.Errorf("unknown transport %q", args[1])
}

func serve(s *hostile.Server, path string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := fakeserver.NewHTTP(s.Server, fakeserver.HTTPOptions{})
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": "http://" + l.Addr().String() +
		path}); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		h.Close()
		_ = web.Close() // makes Serve return
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
