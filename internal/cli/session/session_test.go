package session

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestInterruptEndsTheWindowFirst: a command that watches is interrupted, and not left by its window, if the interrupt
// has ended the window before the command.
func TestInterruptEndsTheWindowFirst(t *testing.T) {
	events := make(chan *mcphubv1.AttachResponse)
	close(events)
	w := &door.Window{Events: events}
	ctx, interrupt := context.WithCancelCause(t.Context())
	o := Options{Changed: func(*mcphubv1.AttachResponse) {}}
	p := questions.New(console.Streams{In: strings.NewReader("")}, w, nil)
	defer p.Close()
	var ended error
	end := func(cause error) { ended = cause }
	if o.read(ctx, p, w, end); ended == nil || !strings.HasPrefix(ended.Error(), "the window ended: ") {
		t.Errorf("the command ends with %v", ended)
	}
	interrupt(door.ErrInterrupted)
	if o.read(ctx, p, w, end); ended != door.ErrInterrupted {
		t.Errorf("interrupted, it ends with %v", ended)
	}
}

// TestFlagsStandAnywhere: flags may stand after the server's name too.
func TestFlagsStandAnywhere(t *testing.T) {
	for _, args := range [][]string{{"srv", "--config", "f", "--json"}, {"--config", "f", "srv", "--json"},
		{"--json", "--config", "f", "srv"}} {
		var o Options
		c := new(cobra.Command)
		o.Register(c)
		err := c.ParseFlags(args)
		set := c.Flags()
		if err != nil || !cmp.Equal(set.Args(), []string{"srv"}) || !cmp.Equal(o.Configs, []string{"f"}) || !o.JSON {
			t.Errorf("%q: positional %q, configs %q, json %v, error %v", args, set.Args(), o.Configs, o.JSON, err)
		}
	}
}
