package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the settings of a run.
type options struct {
	rounds int
	quick  bool
	bin    binaries
}

// pick returns quick in a quick run, and full otherwise.
func pick[T any](o options, full, quick T) T {
	if o.quick {
		return quick
	}
	return full
}

// group is a set of measurements that share their subjects.
type group struct {
	name    string
	about   string
	limit   time.Duration // the group fails if it takes longer
	measure func(ctx context.Context, o options) ([]row, error)
}

// The limits are several times what a group takes on an idle machine: they end what hangs.
var groups = []group{
	{"engine", "engine over stdio against the byte loop, go-sdk and mcp-go; allocations", 3 * time.Minute, measureEngine},
	{"path", "whole path against a relay", 3 * time.Minute, measurePath},
	{"large", "a result of 60 MiB", 3 * time.Minute, measureLarge},
	{"cancel", "CancelRequest received -> notification written", 2 * time.Minute, measureCancel},
	{"withdraw", "server's cancel read -> promptClosed handed to gRPC", 2 * time.Minute, measureWithdraw},
	{"memory", "memory a request in flight", 3 * time.Minute, measureMemory},
	{"idle", "idle hub, idle servers, size of the program", 3 * time.Minute, measureIdle},
	{"gateway", "mcphub mcp against the server itself", 6 * time.Minute, measureGateway},
	{"web", "Streamable HTTP against a bare POST loop and go-sdk", 2 * time.Minute, measureWeb},
	{"webcancel", "CancelRequest received -> notification read, or reset seen, by an HTTP server; what cancelled calls leave",
		3 * time.Minute, measureWebCancel},
	{"start", "spawn -> first answer", 2 * time.Minute, measureStart},
	{"storm", "progress storm", 2 * time.Minute, measureStorm},
	{"bystander", "what others feel of the worst that a server or a folder does", 6 * time.Minute, measureBystander},
}

// runLimit is the limit for the whole run. What was not measured by then is reported as such.
const runLimit = 30 * time.Minute

func main() {
	if len(os.Args) == 2 {
		if serve, ok := plugins[os.Args[1]]; ok {
			os.Exit(serve())
		}
	}
	os.Exit(run())
}

func run() int {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	rounds := flag.Int("rounds", 0, "interleaved `rounds` (default 9, quick 7)")
	only := flag.String("only", "",
		"measure only the groups whose name matches this `regexp`: "+strings.Join(names, ", "))
	quick := flag.Bool("quick", false, "less of everything, three minutes")
	flag.Parse()
	filter, err := regexp.Compile(*only)
	var chosen []group
	if err == nil {
		chosen = slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !filter.MatchString(g.name) })
	}
	if err != nil || flag.NArg() > 0 || *rounds < 0 || len(chosen) == 0 {
		fmt.Fprintln(os.Stderr, "bench: bad arguments;", err)
		flag.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{rounds: *rounds, quick: *quick}
	if o.rounds == 0 {
		o.rounds = pick(o, 9, 7)
	}
	// The hubs under test inherit these settings: no state directory, and the default log level.
	os.Setenv("MCPHUB_STATE_DIR", "")
	os.Unsetenv("MCPHUB_LOG")
	if o.bin, err = build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer o.bin.remove()

	r := newReport(o)
	r.printHead(os.Stdout)
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, errors.New("the run took too long"))
	defer cancel()
	for _, g := range chosen {
		rows, err := measure(ctx, g, o)
		r.add(g, rows, err)
		r.printLast(os.Stdout)
		if errors.Is(err, errStuck) {
			break // what it left running would disturb the others
		}
	}
	if len(r.groups) < len(chosen) {
		r.failures = append(r.failures, fmt.Sprintf("the %d groups after it", len(chosen)-len(r.groups)))
	}
	r.printFoot(os.Stdout)
	if !r.ok() {
		return 1
	}
	return 0
}

// measure measures a group, and a second time if a number missed its target: a machine has moods. A row counts as
// reached if one of the two measurements reached it.
func measure(ctx context.Context, g group, o options) ([]row, error) {
	rows, err := measureOnce(ctx, g, o)
	if err != nil || !slices.ContainsFunc(rows, row.mayChange) {
		return rows, err
	}
	second, err := measureOnce(ctx, g, o)
	return again(rows, second), err
}

var (
	errTooSlow = errors.New("the measurement took too long")
	errStuck   = errors.New("the measurement did not end with its time; its goroutines are on standard error")
)

// grace is how long a group may take to end when its time is over.
const grace = 30 * time.Second

func measureOnce(ctx context.Context, g group, o options) ([]row, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.limit, errTooSlow)
	defer cancel()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	type outcome struct {
		rows []row
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		var out outcome
		out.rows, out.err = g.measure(ctx, o)
		ended <- out
	}()
	var out outcome
	select {
	case out = <-ended:
	case <-ctx.Done():
		select {
		case out = <-ended:
		case <-time.After(grace):
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) // nothing can be done about a failed write
			return nil, errStuck
		}
	}
	if cause := context.Cause(ctx); out.err != nil && cause != nil && !errors.Is(out.err, cause) {
		out.err = fmt.Errorf("%w (%w)", out.err, cause)
	}
	return out.rows, out.err
}
