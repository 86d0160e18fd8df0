package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// measureIdle measures the real hub without servers from outside, and a hub with idle servers from inside.
func measureIdle(ctx context.Context, o options) ([]row, error) {
	var rows []row
	var resident, anonymous []float64
	for range pick(o, 7, 3) {
		size, own, err := idleHub(ctx, o)
		if err != nil {
			return nil, err
		}
		resident, anonymous = append(resident, size), append(anonymous, own)
	}
	rows = append(rows, number("idle hub without servers, anonymous memory", median(anonymous, same), "MiB",
		"median of %d hubs, a second after their start; with the pages of the binary %.1f MiB",
		len(resident), median(resident, same)).atMost(12))
	stripped, err := os.Stat(o.bin.mcphub)
	if err != nil {
		return nil, err
	}
	rows = append(rows, number("binary, stripped", float64(stripped.Size())/1e6, "MB", "").atMost(36))
	names := serverNames(pick(o, 50, 20))
	client, err := openHub(ctx, o, o.bin.self, []string{probedHub}, names...)
	if err != nil {
		return nil, err
	}
	defer closeHub(client)
	// The first server also pays for what is created once for all of them.
	if err := startServers(ctx, client, names[:1]); err != nil {
		return nil, err
	}
	before, err := probe(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := startServers(ctx, client, names[1:]); err != nil {
		return nil, err
	}
	after, err := probe(ctx, client)
	if err != nil {
		return nil, err
	}
	n := float64(len(names) - 1)
	each := func(a, b uint64) float64 { return (float64(a) - float64(b)) / n / 1024 }
	return append(rows, number("each idle stdio server, heap of the hub", each(after.Heap, before.Heap), "KiB",
		"and %.0f KiB of stacks, %.1f goroutines; %d servers",
		each(after.Stacks, before.Stacks), float64(after.Goroutines-before.Goroutines)/n, len(names)).atMost(150)), nil
}

// idleHub returns the memory of one hub in MiB: all resident pages, and those that do not belong to a file.
func idleHub(ctx context.Context, o options) (resident, anonymous float64, err error) {
	client, err := openHub(ctx, o, o.bin.mcphub, nil)
	if err != nil {
		return 0, 0, err
	}
	defer closeHub(client)
	if _, err := client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{}); err != nil {
		return 0, 0, err
	}
	if err := pause(ctx, time.Second); err != nil {
		return 0, 0, err
	}
	if resident, err = memoryMiB(client.PID(), residentMemory); err != nil {
		return 0, 0, err
	}
	anonymous, err = memoryMiB(client.PID(), anonymousMemory)
	return resident, anonymous, err
}

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

var errNoProc = errors.New("this system has no /proc")

// The values that memoryMiB reads: names of proc_pid_status(5).
const (
	residentMemory  = "VmRSS:"
	anonymousMemory = "RssAnon:"
)

func memoryMiB(pid int, what string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errNoProc
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(what)); ok {
			kib, err := strconv.ParseFloat(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 64)
			return kib / 1024, err
		}
	}
	return 0, errNoProc
}

// processTime returns the processor time that another process has used so far, user and system.
func processTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, errNoProc
	}
	_, rest, ok := bytes.Cut(text, []byte(") ")) // the name before it may contain any character
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errNoProc
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime: fields 14 and 15 of proc_pid_stat(5)
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // USER_HZ is 100 on every Linux that Go runs on
}
