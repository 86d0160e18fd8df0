package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/ipc"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const openWindows = 8

// measureWithdraw lets a server withdraw its questions. It measures the time from the moment when the hub's reader has
// the server's cancel until gRPC has promptClosed for the last of eight windows. gRPC is real, but over memory; the
// windows are in this process, too.
func measureWithdraw(ctx context.Context, o options) (rows []row, err error) {
	server := newPipeServer()
	h, err := newLocalHub(ctx, server)
	if err != nil {
		return nil, err
	}
	sent := make(chan time.Time, 1<<16)
	options := ipc.Options{Logger: discardLog()}
	s := grpc.NewServer(append(ipc.ServerOptions(options), grpc.ChainStreamInterceptor(stampClosed(sent)))...)
	ipc.Register(s, h, options)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	defer func() {
		err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		s.Stop()
		err = errors.Join(err, <-served)
		server.wait()
	}()
	conn, err := grpc.NewClient("passthrough:bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var open []*window
	defer func() {
		for _, w := range open {
			w.close()
		}
	}()
	for range openWindows {
		w, err := attach(ctx, mcphubv1.NewEditorServiceClient(conn), allKinds)
		if err != nil {
			return nil, err
		}
		open = append(open, w)
	}
	if _, err := h.StartServer(ctx, "pipe"); err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range pick(o, bounds.QuestionBurst, 500) { // the hub refuses what comes faster
		d, err := withdrawOne(ctx, server, open, sent, i)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return []row{
		number("cancel read -> promptClosed handed to gRPC for 8 windows, median", median(took, micros), "us",
			"the last of 8; p99 %.0f us, worst %.0f us of %d; gRPC over memory",
			percentile(took, 99, micros), percentile(took, 100, micros), len(took)).atMost(200),
	}, nil
}

// withdrawOne asks one question, waits until every window shows it, and withdraws it.
func withdrawOne(ctx context.Context, server *pipeServer, open []*window, sent chan time.Time,
	i int) (time.Duration, error) {
	server.send(
		`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`, i)
	for _, w := range open {
		if err := w.await(ctx, func(s *sightings) bool { return s.opened == i+1 }); err != nil {
			return 0, fmt.Errorf("question %d: %w", i, err)
		}
	}
	server.send(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"no longer needed"}}`, i)
	start, err := receive(ctx, server.read)
	if err != nil {
		return 0, err
	}
	last := start
	for range open {
		at, err := receive(ctx, sent)
		if err != nil {
			return 0, err
		}
		if at.After(last) {
			last = at
		}
	}
	for _, w := range open { // the next round must begin at rest: the request ends after its prompt
		if err := w.await(ctx, func(s *sightings) bool { return s.closed == i+1 && s.finished >= i+1 }); err != nil {
			return 0, err
		}
	}
	return last.Sub(start), nil
}

// stampClosed sends the time when a handler passes promptClosed to its stream.
func stampClosed(sent chan<- time.Time) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(srv, stampedStream{stream, sent})
	}
}

type stampedStream struct {
	grpc.ServerStream
	sent chan<- time.Time
}

func (s stampedStream) SendMsg(m any) error {
	if r, ok := m.(*mcphubv1.AttachResponse); ok && r.GetPromptClosed() != nil {
		s.sent <- time.Now()
	}
	return s.ServerStream.SendMsg(m)
}
