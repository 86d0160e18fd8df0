//go:build unix

package plugin_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// longestGrace is what no test waits for.
const longestGrace = "5m"

// returned is the window of a host that has come back.
type returned struct {
	grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	t *testing.T
}

// window attaches the keeper's window again.
func (h *keptHub) window(t *testing.T, conn *grpc.ClientConn) *returned {
	t.Helper()
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &returned{stream, t}
	w.say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{
		WindowId: h.WindowID, PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM},
		ComesBackTo: h.HubID,
	}}})
	m, err := stream.Recv()
	if err != nil || m.GetWelcome().GetWindowId() != h.WindowID {
		t.Fatalf("welcome %v, %v", m, err)
	}
	return w
}

func (w *returned) say(m *mcphubv1.AttachRequest) {
	w.t.Helper()
	if err := w.Send(m); err != nil {
		w.t.Fatal(err)
	}
}

// see reads on until found reports true; what says in a failure what was expected.
func (w *returned) see(what string, found func(*mcphubv1.AttachResponse) bool) {
	w.t.Helper()
	for {
		m, err := w.Recv()
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		if found(m) {
			return
		}
	}
}

// TestHostReturns_real: a host is killed while a call runs and a prompt is open; another host that has what it kept
// finds both again in the same window, answers the prompt, cancels the call, and ends the hub in order.
func TestHostReturns_real(t *testing.T) {
	t.Parallel() // what it waits for is other processes
	h := leaveBehind(t, longestGrace)
	if runtime.GOOS == "linux" {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", h.ServerPID))
		if err != nil || strings.Contains(string(environment), handshake.EnvReturnGrace) {
			t.Errorf("the server's environment has %s: %v", handshake.EnvReturnGrace, err)
		}
	}
	conn := h.back(t)
	w := h.window(t, conn)
	w.see("progress of the call", func(m *mcphubv1.AttachResponse) bool {
		return m.GetMcpRequestProgressed().GetRequestId() == "call" && m.GetMcpRequestProgressed().GetProgress() != nil
	})
	w.say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
		PromptId: h.PromptID,
		Action:   &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: `{"name":"Ada"}`}},
	}}})
	w.see("the answered call", func(m *mcphubv1.AttachResponse) bool {
		f := m.GetMcpRequestFinished()
		return f.GetRequestId() == "asks" && strings.Contains(f.GetResultJson(), "Hello, Ada!")
	})
	w.say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: "call", Reason: "I am back"},
	}})
	w.see("the end of the call", func(m *mcphubv1.AttachResponse) bool {
		return m.GetMcpRequestCancelled().GetRequestId() == "call"
	})

	if _, err := mcphubv1.NewMcpHubServiceClient(conn).Drain(bounded(t),
		&mcphubv1.DrainRequest{Reason: "the end"}); err != nil {
		t.Errorf("Drain: %v", err)
	}
	h.server.Wait(t, faketime.Long)
	shutdown(conn)
	h.hub.Wait(t, faketime.Long)
	record, err := os.ReadFile(filepath.Join(h.dir, recordFile))
	if err != nil || strings.Count(string(record), `"cancel_received"`) != 1 ||
		!strings.Contains(string(record), "I am back") {
		t.Errorf("the server heard, %v:\n%s", err, record)
	}
	h.noSocket(t)
}

// noSocket checks that the hub has removed its socket.
func (h *keptHub) noSocket(t *testing.T) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(h.dir, "plugin*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHostReturnsTwice_real: a hub with a return grace still runs when one without has exited. The grace begins anew
// with each host that goes; a window that did not come back in between is not lost.
func TestHostReturnsTwice_real(t *testing.T) {
	t.Parallel() // what it waits for is other processes
	h := leaveBehind(t, longestGrace)
	impatient := leaveBehind(t, "") // its host was killed later, and it exits first
	impatient.hub.Wait(t, faketime.Long)
	first := h.back(t)
	if _, err := mcphubv1.NewMcpHubServiceClient(first).GetInfo(bounded(t), &mcphubv1.GetInfoRequest{}); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	conn := h.back(t)
	w := h.window(t, conn)
	w.see("progress of the call", func(m *mcphubv1.AttachResponse) bool {
		return m.GetMcpRequestProgressed().GetRequestId() == "call"
	})
	shutdown(conn)
	h.hub.Wait(t, faketime.Long)
	h.server.Wait(t, faketime.Long)
	h.noSocket(t)
}

// TestStdioOpensAgain_real: a host that comes back can open go-plugin's relay of the hub's standard output and error,
// as the host before it could. In between a write to them blocks; the hub's own logs go another way and never block.
// One piece may be lost: go-plugin's relay may read it for the old host just when that one's stream ends.
func TestStdioOpensAgain_real(t *testing.T) {
	h := start(t, nil)
	first := h.dial(t)
	reading, leave := context.WithCancelCause(bounded(t))
	before := openStdio(t, reading, first)
	leave(errors.New("the host goes"))
	for before.RecvMsg(new(emptypb.Empty)) == nil {
	}
	// This call comes after the end of the stream on the same connection: when it is answered, the relay's stream has
	// ended, and the relay takes no further pieces.
	if _, err := mcphubv1.NewMcpHubServiceClient(first).GetInfo(bounded(t), &mcphubv1.GetInfoRequest{}); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()

	conn, err := grpc.NewClient(first.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const size, piece = 200_000, 1024 // piece is what go-plugin reads at once
	printed := make(chan error, 1)
	go func() {
		_, err := doortest.Do(bounded(t), mcphubv1.NewMcpHubServiceClient(conn), "print", fmt.Sprint(size)) // to both
		printed <- err
	}()
	stream := openStdio(t, bounded(t), conn)
	for got := 0; got < 2*size-piece; {
		chunk := new(emptypb.Empty) // go-plugin's message is internal there: its fields are unknown here
		if err := stream.RecvMsg(chunk); err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		for fields := chunk.ProtoReflect().GetUnknown(); len(fields) > 0; {
			number, kind, n := protowire.ConsumeTag(fields)
			fields = fields[n:]
			if number == 2 && kind == protowire.BytesType {
				data, _ := protowire.ConsumeBytes(fields)
				got += len(data)
			}
			fields = fields[protowire.ConsumeFieldValue(number, kind, fields):]
		}
	}
	if err := <-printed; err != nil {
		t.Errorf("print: %v", err)
	}
}

// openStdio opens go-plugin's relay, as a Go host does.
func openStdio(t *testing.T, ctx context.Context, conn *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err == nil {
		err = stream.SendMsg(&emptypb.Empty{})
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// strangers connect to the hub without the key of its host: with another key, with none, and without TLS. They go on
// connecting until the test ends.
func (h *keptHub) strangers(t *testing.T) map[string]*grpc.ClientConn {
	t.Helper()
	other := h.kept
	var err error
	if other.Cert, other.Key, err = hostCert(); err != nil {
		t.Fatal(err)
	}
	plain := func() (*grpc.ClientConn, error) {
		return grpc.NewClient(h.Target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	keyless := func() (*grpc.ClientConn, error) {
		return grpc.NewClient(h.Target, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true,
			MinVersion: tls.VersionTLS12})))
	}
	all := map[string]*grpc.ClientConn{}
	for name, dial := range map[string]func() (*grpc.ClientConn, error){"another key": other.dial, "no key": keyless,
		"no TLS": plain} {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		all[name] = conn
		conn.Connect()
	}
	return all
}

// TestOtherKeyIsRefused_real: while the hub waits, only a host that has the key of the host that went is let in. A
// client that has only the socket is refused, and does not make the hub wait longer.
func TestOtherKeyIsRefused_real(t *testing.T) {
	t.Parallel() // what it waits for is other processes
	h := leaveBehind(t, longestGrace)
	for name, conn := range h.strangers(t) {
		if _, err := mcphubv1.NewMcpHubServiceClient(conn).GetInfo(bounded(t),
			&mcphubv1.GetInfoRequest{}); status.Code(err) != codes.Unavailable {
			t.Errorf("a stranger with %s got %v", name, err)
		}
		conn.Connect()
	}
	own := h.back(t)
	if _, err := mcphubv1.NewMcpHubServiceClient(own).GetInfo(bounded(t), &mcphubv1.GetInfoRequest{}); err != nil {
		t.Errorf("the host got %v afterwards", err)
	}
	shutdown(own)
	h.hub.Wait(t, faketime.Long)
	h.server.Wait(t, faketime.Long)
	h.noSocket(t)

	waits := leaveBehind(t, "1500ms")
	waits.strangers(t)
	waits.hub.Wait(t, faketime.Long)
	waits.server.Wait(t, faketime.Long)
	waits.noSocket(t)
}

// TestNobodyReturns_real: when no host comes back, hub, servers and socket are gone once the grace is over; without a
// grace at once.
func TestNobodyReturns_real(t *testing.T) {
	for _, grace := range []string{"1500ms", "never mind", ""} {
		t.Run(grace, func(t *testing.T) {
			t.Parallel() // what it waits for is other processes
			h := leaveBehind(t, grace)
			h.hub.Wait(t, faketime.Long)
			h.server.Wait(t, faketime.Long)
			h.noSocket(t)
		})
	}
}

// TestSigtermEndsTheWait_real: a hub that waits for a host to return ends at once on SIGTERM and on SIGHUP.
func TestSigtermEndsTheWait_real(t *testing.T) {
	hangupCountsForChildren(t)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		h := leaveBehind(t, longestGrace)
		if !h.hub.Alive(t) {
			t.Fatal("the hub has not waited")
		}
		if err := syscall.Kill(h.HubPID, s); err != nil {
			t.Fatal(err)
		}
		h.hub.Wait(t, 2*time.Minute) // long before the end of the grace
		h.server.Wait(t, faketime.Long)
		h.noSocket(t)
	}
}
