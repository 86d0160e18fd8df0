package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// stormFloor returns the processor time for only reading the same storm: ten goroutines, ten pipes.
func stormFloor(ctx context.Context, o options, count int) (cpu, took time.Duration, err error) {
	errs := make([]error, stormServers)
	var readers sync.WaitGroup
	before, start := cpuTime(), time.Now()
	for i := range errs {
		readers.Go(func() { errs[i] = drainStorm(ctx, o, count) })
	}
	readers.Wait()
	took, cpu = time.Since(start), cpuTime()-before
	for _, err := range errs {
		if err != nil {
			return 0, 0, fmt.Errorf("floor: %w", err)
		}
	}
	return cpu, took, nil
}

func drainStorm(ctx context.Context, o options, count int) error {
	cmd := exec.CommandContext(ctx, o.bin.echo)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintf(stdin,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"storm","arguments":{"count":%d,"perSecond":%d},"_meta":{"progressToken":1}}}`+"\n", count, stormRate)
	r := bufio.NewReader(stdout)
	lines := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil || bytes.Contains(line, []byte(`"result"`)) {
			break
		}
		lines++
	}
	_ = stdin.Close() // the server ends with its input
	if err := cmd.Wait(); err != nil {
		return err
	}
	if lines != count {
		return fmt.Errorf("%d of %d lines: %w", lines, count, io.ErrUnexpectedEOF)
	}
	return nil
}
