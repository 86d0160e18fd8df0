package doctor

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
)

// leave is how long a server may take to exit at each step.
const leave = 5 * time.Second

// ends observes how the process exits: when its input ends, and after SIGTERM.
func (e *examination) ends(ctx context.Context, way Way) {
	e.doing(way, "how it ends")
	if exit, took, ok := e.end(ctx, way, nil); ok {
		switch exit.Stage {
		case process.StageStdin, process.StageExited:
			e.find("end.stdin", way, "", Good, "it left %s after its input had ended: %s", span(took), exit)
		default:
			e.find("end.stdin", way, "", Mend, "it did not leave within %v after its input had ended: %s", leave, exit)
		}
		if exit.Group != exit.Stage {
			e.find("end.children", way, "", Mend, "processes that it had started were left, and had to be ended: %s", exit.Group)
		} else {
			e.find("end.children", way, "", Good, "no process was left")
		}
	}
	if !canTerminate || ctx.Err() != nil {
		return
	}
	if exit, took, ok := e.end(ctx, way, terminate); ok {
		if took < leave {
			e.find("end.sigterm", way, "", Good, "it left %s after SIGTERM: %s", span(took), exit)
		} else {
			e.find("end.sigterm", way, "", Mend, "it did not leave within %v after SIGTERM: %s", leave, exit)
		}
	}
}

// end starts the server, initializes it and ends it: by signal if it is not nil, else by closing its input. took is the
// time until the exit; it is leave or more if the server did not exit by itself.
func (e *examination) end(ctx context.Context, way Way, signal func(pid int) error) (exit process.Exit,
	took time.Duration, ok bool) {
	ctx, cancel := e.starting(ctx)
	defer cancel()
	v, err := e.visit(ctx, way, process.Grace{Stdin: leave, Terminate: leave})
	if err != nil {
		return exit, 0, false
	}
	defer v.close()
	// A server that speaks only 2026-07-28 refuses initialize, and ends like any other.
	_, _ = v.initialize(ctx, e.o.Client, mcp.Revision20251125)
	began := time.Now()
	if signal == nil {
		v.close()
		return v.proc.Exit(), time.Since(began), true
	}
	if signal(v.proc.PID()) != nil {
		return exit, 0, false // it has exited already
	}
	await(v.proc.Done(), leave)
	took = time.Since(began)
	v.close()
	return v.proc.Exit(), took, true
}
