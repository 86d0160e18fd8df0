package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

const (
	turn     = 400 * time.Millisecond // the time for which a subject calls in a round
	together = 64                     // the calls in flight in the rows with several calls at once
)

// subject is a client that calls a tool. It stays open and warm for the whole comparison.
type subject struct {
	name string
	// call makes one call and may be used from any goroutine. If it is nil, pump is used.
	call func(ctx context.Context) error
	// pump is the subject's own loop. It keeps parallel calls in flight until stop is set, and returns the number of
	// calls.
	pump  func(parallel int, stop *atomic.Bool) (calls int, err error)
	close func()
}

// opener opens a subject.
type opener func(ctx context.Context, o options) (subject, error)

// run lets the subject call for about the time d, and returns the number of calls and their rate a second.
func (s subject) run(ctx context.Context, d time.Duration, parallel int) (calls int, rate float64, err error) {
	var stop atomic.Bool
	runtime.GC() // a subject must not pay for the garbage of the one before
	defer time.AfterFunc(d, func() { stop.Store(true) }).Stop()
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	start := time.Now()
	if s.pump != nil {
		calls, err = s.pump(parallel, &stop)
	} else {
		calls, err = s.loop(ctx, parallel, &stop)
	}
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", s.name, err)
	}
	return calls, float64(calls) / time.Since(start).Seconds(), nil
}

func (s subject) loop(ctx context.Context, parallel int, stop *atomic.Bool) (int, error) {
	var (
		callers sync.WaitGroup
		total   atomic.Int64
		once    sync.Once
		failure error
	)
	for range parallel {
		callers.Go(func() {
			n := 0
			for !stop.Load() {
				if err := s.call(ctx); err != nil {
					once.Do(func() { failure = err })
					stop.Store(true)
					return
				}
				n++
			}
			total.Add(int64(n))
		})
	}
	callers.Wait()
	return int(total.Load()), failure
}

// rates are the calls a second of each subject, one number a round.
type rates map[string][]float64

// compare opens the subjects, and lets them call in turns: first one call after the other, then 64 at once.
func compare(ctx context.Context, o options, open ...opener) (one, many rates) {
	var subjects []subject
	defer func() {
		for _, s := range subjects {
			s.close()
		}
	}()
	for _, open := range open {
		subjects = append(subjects, got(open(ctx, o)))
	}
	return interleave(ctx, subjects, o.rounds, 1), interleave(ctx, subjects, o.rounds, together)
}

// interleave runs every subject once in each round, and each round begins with a different one.
func interleave(ctx context.Context, subjects []subject, rounds, parallel int) rates {
	all := rates{}
	for _, s := range subjects { // the results of the warm-up are discarded
		_, _, err := s.run(ctx, turn/4, parallel)
		must(err)
	}
	for round := range rounds {
		for i := range subjects {
			s := subjects[(round+i)%len(subjects)]
			_, rate, err := s.run(ctx, turn, parallel)
			must(err)
			all[s.name] = append(all[s.name], rate)
		}
	}
	return all
}

// against returns the median over the rounds of a quotient of rates. Each quotient is taken within one round.
func (r rates) against(subject, other string) float64 {
	return r.median(subject, other, func(a, b float64) float64 { return a / b })
}

// more returns by how many milliseconds a call of one subject is longer than that of another, both made one after the
// other.
func (r rates) more(subject, other string) float64 {
	return r.median(subject, other, func(a, b float64) float64 { return 1000/a - 1000/b })
}

func (r rates) median(subject, other string, of func(a, b float64) float64) float64 {
	var values []float64
	for i, a := range r[subject] {
		values = append(values, of(a, r[other][i]))
	}
	return median(values)
}

// String says what each subject did.
func (r rates) String() string {
	var each []string
	for name, values := range r {
		rate := median(values)
		each = append(each, fmt.Sprintf("%s %.0f (%.1f us)", name, rate, 1e6/rate))
	}
	slices.Sort(each)
	return "calls a second: " + strings.Join(each, ", ")
}

func median(values []float64) float64 { return percentile(values, 50) }

// percentile returns percentile p (0 to 100) of the values, by nearest rank. It returns NaN for no values.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// pause waits for the time d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// measureEngine measures the engine, the floor and the peers with the same server.
func measureEngine(ctx context.Context, o options, f figures) {
	one, many := compare(ctx, o, openByteLoop, openEngine, openGoSDK, openMcpGo)
	// Where waking up a process is dear, what the byte loop reaches bounds the ratios to the peers: no client over pipes
	// can be faster.
	f.put("engine / byte loop, sequential", one.against(engineName, byteLoopName), "%v", one)
	f.put("engine / byte loop, 64 at once", many.against(engineName, byteLoopName), "%v", many)
	for _, peer := range []string{goSDKName, mcpGoName} {
		f.put("engine / "+peer+", sequential", one.against(engineName, peer), "")
		f.put("engine / "+peer+", 64 at once", many.against(engineName, peer), "")
	}
}

// measurePath measures the whole way of a call: host -> gRPC over the door -> hub -> server and back. It compares that
// with a relay, which has the same door and session but no hub in between (docs/adr/0042).
func measurePath(ctx context.Context, o options, f figures) {
	const whole, relayed = "whole path", "relay"
	one, many := compare(ctx, o, openDoor(whole, serversJSON(o, "echo"), o.bin.mcphub),
		openDoor(relayed, "", o.bin.self, relay))
	f.put("time of the whole path / of a relay, sequential", 1/one.against(whole, relayed), "%v", one)
	f.put("time of the whole path / of a relay, 64 at once", 1/many.against(whole, relayed), "%v", many)
}

// openDoor opens a plugin as a subject that calls through the door.
func openDoor(name, config, command string, args ...string) opener {
	return func(ctx context.Context, _ options) (subject, error) {
		client, err := openHub(ctx, config, command, args...)
		if err != nil {
			return subject{}, err
		}
		return subject{
			name: name,
			call: func(ctx context.Context) error {
				return callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
			},
			close: func() { closeHub(client) },
		}, nil
	}
}

// measureWeb measures sessions of both eras over Streamable HTTP, and the floor with the same server.
func measureWeb(ctx context.Context, o options, f figures) {
	web := got(startHTTP(o.bin.self, webRole))
	defer web.stop()
	call := mcp.CallRequest{Name: "echo", Arguments: echoArguments, OnProgress: func(mcp.Progress) {}}
	one, many := compare(ctx, o, openPostLoop(web.url),
		openSession(mcp.EraLegacy, overHTTP(web.url, ""), mcp.EraLegacy, call),
		openSession(mcp.EraModern, overHTTP(web.url, ""), mcp.EraModern, call))
	f.put("HTTP, legacy / POST loop, sequential", one.against(mcp.EraLegacy, postLoopName), "%v", one)
	f.put("HTTP, legacy / POST loop, 64 at once", many.against(mcp.EraLegacy, postLoopName), "%v", many)
	f.put("HTTP, modern / POST loop, sequential", one.against(mcp.EraModern, postLoopName), "")
	f.put("HTTP, modern / POST loop, 64 at once", many.against(mcp.EraModern, postLoopName), "")
}

const postLoopName = "POST loop"

// openPostLoop opens the floor: a POST with net/http in the way its documentation shows, with the headers of
// 2025-11-25, and a check that the answer is the right one.
func openPostLoop(url string) opener {
	return func(context.Context, options) (subject, error) {
		// The default transport of net/http keeps two idle connections, and opens a new one for every other call.
		transport := &http.Transport{MaxIdleConnsPerHost: 2 * together}
		client := &http.Client{Transport: transport}
		var last atomic.Int64
		return subject{
			name: postLoopName,
			call: func(ctx context.Context) error {
				id := last.Add(1)
				body := appendCall(make([]byte, 0, 256), id)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
				if err != nil {
					return err
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				req.Header.Set("Mcp-Session-Id", "bench")
				req.Header.Set("MCP-Protocol-Version", revision)
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				answer, err := io.ReadAll(resp.Body)
				if err := errors.Join(err, resp.Body.Close()); err != nil {
					return err
				}
				if got := webID(answer); resp.StatusCode != http.StatusOK || string(got) != strconv.FormatInt(id, 10) {
					return fmt.Errorf("status %d with an answer to %q, not to %d", resp.StatusCode, got, id)
				}
				return nil
			},
			close: transport.CloseIdleConnections,
		}, nil
	}
}
