package stdio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// mostPending bounds the calls of a host that have no reply yet.
const mostPending = 1024

var errGivenUp = errors.New("the host gave it up")

// hostCalls are the calls of a host: methods that a window may not call, or whose replies to a window do not have all.
// They are calls by gRPC, so that the hub takes them for what they are.
type hostCalls struct {
	hub    *grpc.ClientConn
	answer func(*mcphubv1.AttachResponse)
	ctx    context.Context // of all calls
	stop   context.CancelCauseFunc
	open   sync.WaitGroup

	mu      sync.Mutex
	number  int                                // of the open calls
	pending map[string]context.CancelCauseFunc // those that can be given up, by the ids of their messages
}

func newHostCalls(ctx context.Context, hub *grpc.ClientConn, answer func(*mcphubv1.AttachResponse)) *hostCalls {
	h := &hostCalls{hub: hub, answer: answer, pending: map[string]context.CancelCauseFunc{}}
	h.ctx, h.stop = context.WithCancelCause(ctx)
	return h
}

// end ends all calls, and waits for that.
func (h *hostCalls) end() {
	h.stop(errInputEnded)
	h.open.Wait()
}

// takes carries out a message if it is a call of a host, or gives up one. It returns false for any other message.
func (h *hostCalls) takes(m *mcphubv1.AttachRequest) bool {
	if given := m.GetGiveUp(); given != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		cancel := h.pending[given.GetMessageId()]
		if cancel != nil {
			cancel(errGivenUp)
		}
		return cancel != nil
	}
	if !ipc.IsForHosts(m.GetCall().GetMethod()) {
		return false
	}
	ctx, release := h.begin(m.GetMessageId())
	if release == nil {
		h.answer(failed(m.GetMessageId(), "RESOURCE_EXHAUSTED", "QUEUE_FULL",
			fmt.Sprintf("%d calls of this host have no reply yet; wait for some", mostPending)))
		return true
	}
	h.open.Go(func() {
		defer release()
		response, err := h.invoke(ctx, m.GetCall())
		h.reply(m.GetMessageId(), response, err)
	})
	return true
}

// begin registers a call until release, which is nil if too many are open. A second call with the id of an open one
// cannot be given up by it.
func (h *hostCalls) begin(id string) (ctx context.Context, release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.number == mostPending {
		return nil, nil
	}
	h.number++
	ctx, cancel := context.WithCancelCause(h.ctx)
	_, used := h.pending[id]
	named := id != "" && !used
	if named {
		h.pending[id] = cancel
	}
	return ctx, func() {
		cancel(nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.number--
		if named {
			delete(h.pending, id)
		}
	}
}

// invoke calls a method by its path.
func (h *hostCalls) invoke(ctx context.Context, c *mcphubv1.Call) (*anypb.Any, error) {
	service, name, _ := strings.Cut(strings.TrimPrefix(c.GetMethod(), "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, err
	}
	method := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
	if got, want := c.GetRequest().MessageName(), method.Input().FullName(); got != want {
		return nil, status.Errorf(codes.InvalidArgument, "call.request: is a %q, and %s takes %s", got, c.GetMethod(), want)
	}
	request, err := c.GetRequest().UnmarshalNew()
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "call.request: is not a valid message")
	}
	if r, ok := request.(*mcphubv1.ReloadConfigRequest); ok && r.GetManagedPolicy() != nil {
		return nil, status.Error(codes.PermissionDenied, "managed_policy: is not taken from lines of JSON; an organisation's "+
			"policy is in the system's place (docs/policy.md)")
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
	if err != nil {
		return nil, err
	}
	response := kind.New().Interface()
	if err := h.hub.Invoke(ctx, c.GetMethod(), request, response); err != nil {
		return nil, err
	}
	return anypb.New(proto.Message(response))
}

// reply answers a message, unless it has no id.
func (h *hostCalls) reply(id string, response *anypb.Any, err error) {
	switch f, ok := host.ErrorOf(err); {
	case id == "":
	case err == nil:
		h.answer(reply(&mcphubv1.Reply{MessageId: id, Response: response}))
	case ok:
		h.answer(failed(id, f.Code, f.Reason, f.Message))
	default:
		h.answer(failed(id, "INTERNAL", "", err.Error()))
	}
}
