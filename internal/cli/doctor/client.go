package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/doctor"
	"github.com/mcphub-go/mcphub/internal/doctor/clients"
)

// userStarts is the value of --client for a client that the user starts.
const userStarts = "-"

// runClient examines a client.
func (o *options) runClient(words []string) error {
	client, drive, err := o.clientCommands(words)
	if err != nil {
		return exit.Wrong(err)
	}
	own, err := os.Executable()
	if err != nil {
		return exit.Failf("UNAVAILABLE", "cannot find the own executable: %v", err)
	}
	var secrets redact.Redactor
	secrets.Add(process.Credentials(os.Environ())...)
	connect := 30 * time.Second
	if limit := o.ConnectTimeout(); limit != nil {
		connect = *limit
	}
	options := clients.Options{
		Name: o.client, Client: client, Drive: drive, Version: o.Version, Connect: connect, Out: o.Err,
		Hide: secrets.Text, Server: func(socket string) []string { return []string{own, "doctor", "--play", socket} },
		Ready: func(w clients.Ways) { o.instruct(w, client == nil) },
	}
	if client == nil {
		options.Name = "your client"
	}
	if file, ok := o.In.(*os.File); ok {
		options.In = file
	}
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	report, err := clients.Examine(ctx, options)
	if err != nil {
		o.Tell("mcphub doctor: %s", console.Escape(err.Error()))
	}
	if failed := o.write(report); failed != nil {
		return failed
	}
	switch {
	case err != nil:
		return exit.Server
	case report.Worst() == doctor.Mend:
		return exit.ToolError
	case report.Count(doctor.Unseen) > 0 || len(report.Findings) == 0:
		return exit.Usage
	}
	return nil
}

// clientCommands returns the commands of --client and --drive, nil for none.
func (o *options) clientCommands(words []string) (client, drive func(clients.Ways) []string, err error) {
	if len(words) > 0 || o.tool != "" || len(o.Configs) > 0 || o.Single() != "" {
		return nil, nil, errors.New("--client examines a client: it goes with no server, and with none of their flags")
	}
	if o.client != userStarts {
		if client, err = filled("client", o.client); err != nil {
			return nil, nil, err
		}
	}
	if o.drive != "" {
		drive, err = filled("drive", o.drive)
	}
	return client, drive, err
}

// filled returns the words of a command with what its places stand for. A word {server} stands for several words; in a
// word it stands for a command line.
func filled(flag, line string) (func(clients.Ways) []string, error) {
	words, err := source.Words(flag, line)
	return func(w clients.Ways) (all []string) {
		places := strings.NewReplacer("{server}", console.ShellLine(w.Server), "{url}", w.URL, "{config}", w.Config)
		for _, word := range words {
			if word == "{server}" {
				all = append(all, w.Server...)
			} else {
				all = append(all, places.Replace(word))
			}
		}
		return all
	}, err
}

// instruct says what is to be done with the client.
func (o *options) instruct(w clients.Ways, alone bool) {
	o.Say("The doctor plays the server mcphub-doctor. Its command:\n  %s\nor, over Streamable HTTP of both eras, its address:\n  %s",
		console.ShellLine(w.Server), w.URL)
	if alone {
		o.Say("or in a config file:\n%s", clients.Config(w.Server))
	}
	o.Say(`Let the client
  1. call slow, and cancel it while it runs;
  2. call ask, sample or roots, whichever it lists, and answer;
  3. call ask_then_withdraw, if it lists that, and not answer: the question has to go after 3 s;
  4. end.
Ctrl-C ends the play, too.`)
}

// runPlay is the process that the client starts. It is not a command for people, so no help mentions it.
func (o *options) runPlay() error {
	told, err := net.Dial("unix", o.play)
	if err != nil {
		return exit.Failf("UNAVAILABLE", "the doctor that plays this server has ended: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() { // ends with the socket, and so with the process
		_, _ = told.Read(make([]byte, 1)) // nothing comes: it is the doctor's end
		cancel(errors.New("the doctor has ended"))
	}()
	var mu sync.Mutex
	lines := json.NewEncoder(told)
	record := func(e clients.Event) {
		if e.At.IsZero() {
			e.At = time.Now()
		}
		mu.Lock()
		defer mu.Unlock()
		_ = lines.Encode(e) // the doctor's end ends ctx
	}
	signals, stop := o.Interrupts()
	defer stop()
	clients.Serve(ctx, mcpserver.Standard(o.In, o.Out.W), signals, o.Version, record)
	return told.Close()
}
