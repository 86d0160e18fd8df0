package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// largeSize is slightly less than the longest line that a hub reads by default.
const largeSize = 60 << 20

// largeText returns the result of the tool large.
var largeText = sync.OnceValue(func() string {
	return `{"content":[{"type":"text","text":"` + strings.Repeat("x", largeSize) + `"}],"isError":false}`
})

// measureLarge measures the processor time for one large result, from a server's pipe onwards. It counts the hub's own
// part: it subtracts the time that gRPC needs for the same message, and the time for reading the same bytes from a
// pipe.
func measureLarge(ctx context.Context, o options) ([]row, error) {
	rounds := pick(o, 9, 3)
	arguments := fmt.Sprintf(`{"count":%d}`, largeSize)
	whole, err := largeTime(ctx, o, rounds, arguments, o.bin.mcphub, nil, "echo")
	if err != nil {
		return nil, err
	}
	floor, err := largeTime(ctx, o, rounds, arguments, o.bin.self, []string{guardedEcho})
	if err != nil {
		return nil, err
	}
	pipe, err := largePipe(ctx, o, rounds, arguments)
	if err != nil {
		return nil, err
	}
	own := whole - floor - pipe
	rate := func(d time.Duration) float64 { return largeSize / 1e6 / max(d.Seconds(), 0.001) }
	return []row{
		number("a result of 60 MiB from stdio to the window, ours together", rate(own), "MB/s",
			"ms of hub CPU: %.0f, of which gRPC takes %.0f and the pipe %.0f", millis(whole), millis(floor), millis(pipe)).
			atLeast(150),
	}, nil
}

// largeTime returns the processor time that a plugin needs for one answer of the tool large.
func largeTime(ctx context.Context, o options, rounds int, arguments, command string, args []string,
	servers ...string) (time.Duration, error) {
	client, err := openHub(ctx, o, command, args, servers...)
	if err != nil {
		return 0, err
	}
	defer closeHub(client)
	call := func() error {
		r, err := client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "echo", Tool: "large", ArgumentsJson: arguments},
			grpc.MaxCallRecvMsgSize(2*largeSize))
		if err == nil && len(r.GetResultJson()) < largeSize {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if err := call(); err != nil {
		return 0, err
	}
	before, err := processTime(client.PID())
	if err != nil {
		return 0, err
	}
	for range rounds {
		if err := call(); err != nil {
			return 0, err
		}
	}
	after, err := processTime(client.PID())
	return (after - before) / time.Duration(rounds), err
}

// largePipe returns the processor time for reading the same answer into one buffer.
func largePipe(ctx context.Context, o options, rounds int, arguments string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, o.bin.echo)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(stdout, largeSize+1024)
	before := cpuTime()
	for range rounds {
		fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large","arguments":%s}}`+"\n",
			arguments)
		if _, err := r.ReadSlice('\n'); err != nil {
			return 0, err
		}
	}
	took := cpuTime() - before
	_ = stdin.Close() // the server ends with its input
	return took / time.Duration(rounds), cmd.Wait()
}
