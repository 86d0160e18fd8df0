package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestHandshake plays the conversations of testdata/handshake. A file has, in order: "options" (handshakeOptions as
// JSON), then "client" (lines that must come), "server" (lines that are sent), "exit" (the server exits; the next parts
// play on a new link) and at the end "session" (the result of Connect). With -update the client and session parts are
// rewritten; a client part keeps its number of lines.
func TestHandshake(t *testing.T) {
	files, err := filepath.Glob("testdata/handshake/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			want, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got *txtar.Archive
			synctest.Test(t, func(t *testing.T) { got = playHandshake(t, want) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(want)), string(txtar.Format(got))); diff != "" {
				t.Errorf("conversation (-want +got):\n%s", diff)
			}
		})
	}
}

type handshakeOptions struct {
	Era          string
	Remembered   Era
	Capabilities Capabilities
	Start        string // time limit of the start; "" for a minute
}

func playHandshake(t *testing.T, a *txtar.Archive) *txtar.Archive {
	got := &txtar.Archive{Comment: a.Comment}
	var o handshakeOptions
	if err := json.Unmarshal(a.Files[0].Data, &o); err != nil {
		t.Fatal(err)
	}
	limit := time.Minute
	if o.Start != "" {
		var err error
		if limit, err = time.ParseDuration(o.Start); err != nil {
			t.Fatal(err)
		}
	}
	links := make(chan [2]*pipe, 4)
	opens := 0
	var script sync.WaitGroup
	script.Go(func() {
		var in *bufio.Reader
		var ends [2]*pipe
		next := func() {
			ends = <-links
			in = bufio.NewReader(ends[0])
		}
		next()
		for i, f := range a.Files {
			switch f.Name {
			case "client":
				var out bytes.Buffer
				for range bytes.Count(f.Data, []byte("\n")) {
					line, err := in.ReadString('\n')
					if err != nil {
						line = fmt.Sprintf("(%v)\n", err)
					}
					out.WriteString(line)
				}
				f.Data = out.Bytes()
			case "server":
				ends[1].Write(f.Data)
			case "exit":
				ends[0].Close()
				ends[1].Close()
				if slices.ContainsFunc(a.Files[i:], func(f txtar.File) bool { return f.Name == "client" }) {
					next()
				}
			case "session":
				// What the client still writes until it closes the link is part of it, too; usually nothing.
				rest := new(bytes.Buffer)
				in.WriteTo(rest)
				f.Data = append([]byte(nil), rest.Bytes()...)
			}
			got.Files = append(got.Files, f)
		}
		ends[1].Close()
	})
	ctx, stop := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("the start took longer than %v", limit))
	defer stop()
	s, err := Connect(ctx, Options{
		Server: "test", Client: testClient, Era: o.Era, LastEra: o.Remembered, Handler: &recorder{},
		Capabilities: func() Capabilities { return o.Capabilities },
		Open: func(context.Context) (*Link, error) {
			opens++
			link, fromClient, toClient := wire()
			link.Ended = func() string { return "the process exited with status 3" }
			links <- [2]*pipe{fromClient, toClient}
			return link, nil
		},
	})
	var result string
	if err != nil {
		result = "error: " + err.Error() + "\n"
	} else {
		info := s.Info()
		result = fmt.Sprintf("%s %s, %q %q %q %q, tools %t changed %t logging %t, declared %+v\n", s.Era(), s.Revision(),
			info.Name, info.Title, info.Version, info.Instructions, info.HasTools, info.ToolsListChanged, info.Logging,
			s.state.Load().declared)
		synctest.Wait()
		s.Close(nil)
	}
	script.Wait()
	last := &got.Files[len(got.Files)-1]
	result += fmt.Sprintf("links %d\n", opens)
	if len(last.Data) > 0 {
		result += "written after the script: " + string(last.Data)
	}
	last.Data = []byte(result)
	return got
}
