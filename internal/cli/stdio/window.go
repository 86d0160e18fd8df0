package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// stallTime is how long the host may leave one message unread. It then ends the command: a host that does not read
// any more would keep servers running for ever. (A hub has its own limit for a window that is too slow,
// WINDOW_TOO_SLOW, but cannot tell it to whoever does not read.)
const stallTime = 30 * time.Second

var (
	errInputEnded = errors.New("the host has closed the input")
	errUnread     = errors.New("the host does not read the output")
)

// window is one window whose stream is lines of JSON: one goroutine passes the messages of the input to the hub,
// another one those of the hub to the output.
type window struct {
	lines  jsonrpc.Stream
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	calls  *hostCalls // nil: what comes on the input may do what a window may
	end    context.CancelCauseFunc

	writing sync.Mutex // guards Write of lines
	greeted bool       // hello was passed on; used by hear alone
}

// serve serves one window, and returns when its input, its stream or ctx has ended. An error says why, if the hub has
// ended the stream.
func serve(ctx context.Context, hub *grpc.ClientConn, lines jsonrpc.Stream, isHost bool) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(errInputEnded)
	stream, err := mcphubv1.NewEditorServiceClient(hub).Attach(ctx)
	if err != nil {
		return exit.FailureOf(err)
	}
	w := &window{lines: lines, stream: stream, end: end}
	if isHost {
		w.calls = newHostCalls(ctx, hub, w.say)
	}
	defer context.AfterFunc(ctx, func() { _ = lines.Close() })() // ends hear and tell, whatever they wait for
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		w.hear()
	}()
	err = w.tell()
	if ctx.Err() != nil { // it was this side that ended the stream
		err = nil
		if context.Cause(ctx) == errUnread {
			err = exit.Failf("UNAVAILABLE", "%v; everything was ended", errUnread)
		}
	}
	end(errInputEnded)
	<-heard
	if w.calls != nil {
		w.calls.end()
	}
	return err
}

// hear passes on the messages of the input until it ends, which closes the window for good.
func (w *window) hear() {
	for {
		line, err := w.lines.ReadMessage(nil)
		if long, ok := errors.AsType[*jsontext.TooLongError](err); ok {
			w.refuse("", "RESOURCE_EXHAUSTED", "BOUND_EXCEEDED", "the line was left out: "+long.Error())
			continue
		}
		if err != nil {
			break
		}
		message := new(mcphubv1.AttachRequest)
		if err := protojson.Unmarshal(line.Text, message); err != nil {
			w.refuse(idIn(line.Text), "INVALID_ARGUMENT", "INVALID_MESSAGE",
				"the line is no AttachRequest in proto3 JSON: "+err.Error())
			continue
		}
		if !w.pass(message) {
			return // tell gets the status
		}
	}
	if w.calls != nil {
		w.calls.end()
	}
	_ = w.stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CloseWindow{
		CloseWindow: &mcphubv1.CloseWindow{}}}) // its error is that of the stream, which tell gets
	_ = w.stream.CloseSend()
}

// pass carries out one message, or has the hub do it. It returns false if the stream has ended.
func (w *window) pass(m *mcphubv1.AttachRequest) bool {
	isHello := m.GetHello() != nil
	switch {
	case isHello && w.greeted:
		w.refuse(m.GetMessageId(), "INVALID_ARGUMENT", "INVALID_MESSAGE", "hello is the first message, and is sent once")
		return true
	case !isHello && !w.greeted:
		w.refuse(m.GetMessageId(), "INVALID_ARGUMENT", "HELLO_EXPECTED",
			`the first message is hello, for example {"hello":{"title":"my editor"}}; this one was left out`)
		return true
	case w.calls != nil && w.calls.takes(m):
		return true
	}
	w.greeted = true
	return w.stream.Send(m) == nil
}

// tell passes on the hub's messages until the stream ends.
func (w *window) tell() error {
	for {
		message, err := w.stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			failure := exit.FailureOf(err)
			if f, ok := host.ErrorOf(err); ok {
				w.refuse("", f.Code, f.Reason, f.Message)
			}
			return failure
		}
		w.say(message)
	}
}

// say writes one message as a line. Once the output is broken, nobody hears it; the input then ends, too.
func (w *window) say(m *mcphubv1.AttachResponse) {
	text, err := protojson.Marshal(m)
	if err != nil {
		text, _ = protojson.Marshal(failed(m.GetReply().GetMessageId(), "INTERNAL", "PROTOCOL_ERROR",
			fmt.Sprintf("a message of the hub is no proto3 JSON: %v", err))) // which has only strings
	}
	var line bytes.Buffer
	_ = json.Compact(&line, text) // it is JSON; protojson puts spaces into some builds' lines
	line.WriteByte('\n')
	w.writing.Lock()
	defer w.writing.Unlock()
	defer time.AfterFunc(stallTime, func() { w.end(errUnread) }).Stop()
	_, _ = w.lines.Write(line.Bytes())
}

func (w *window) refuse(messageID, code, reason, text string) {
	w.say(failed(messageID, code, reason, text))
}

// failed returns the reply to a message that was not carried out. It has no message_id if the line had none that could
// be read.
func failed(messageID, code, reason, text string) *mcphubv1.AttachResponse {
	return reply(&mcphubv1.Reply{MessageId: messageID,
		Error: &mcphubv1.HubError{Code: code, Reason: reason, Message: text}})
}

func reply(r *mcphubv1.Reply) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: r}}
}

// idIn returns the message_id in a line that is no message, "" if there is none.
func idIn(line []byte) string {
	var m struct {
		ID string `json:"messageId"`
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) > 128 {
		return ""
	}
	return m.ID
}
