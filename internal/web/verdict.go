package web

import (
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// verdict is what a page is told about the end of its window. It is an error so that it can be the cause of a context.
type verdict struct {
	code   websocket.StatusCode
	reason string
}

func (v *verdict) Error() string { return v.reason }

var (
	windowOver  = &verdict{websocket.StatusNormalClosure, "the window has ended"}
	serverStops = &verdict{websocket.StatusGoingAway, "mcphub has ended"}
)

// statusBase plus the number of a gRPC code is the close code for a stream that ended with that code: 4008 is
// RESOURCE_EXHAUSTED, WINDOW_TOO_SLOW, and 4014 is UNAVAILABLE, DRAINING. RFC 6455 leaves 4000 to 4999 to applications.
const statusBase = 4000

// linkNeeded is the close code for a socket that has not proved that its page may have a window. Its reason is how to
// get a link.
const linkNeeded = statusBase + websocket.StatusCode(codes.Unauthenticated)

// maxReason is the number of bytes for the reason in a close frame (RFC 6455, section 5.5: 125 bytes with the code).
const maxReason = 123

// verdictOf returns the verdict for the end of a stream. Its reason is "REASON: message".
func verdictOf(err error) *verdict {
	code, message := status.Code(err), status.Convert(err).Message()
	if f, ok := host.ErrorOf(err); ok {
		message = f.Message
		if f.Reason != "" {
			message = f.Reason + ": " + message
		}
	}
	return &verdict{statusBase + websocket.StatusCode(code), message}
}

// badMessage returns the verdict for a frame that is not a message of the contract. It looks like the hub's
// INVALID_ARGUMENT.
func badMessage(err error) *verdict {
	return &verdict{statusBase + websocket.StatusCode(codes.InvalidArgument),
		"INVALID_MESSAGE: the frame is no AttachRequest in proto3 JSON: " + err.Error()}
}

// writesConfig returns the reply to a message that would write a config file, read one for that, or find a server to
// add, if pages may not do that. It returns nil for any other message.
func writesConfig(m *mcphubv1.AttachRequest) *mcphubv1.AttachResponse {
	method := m.GetCall().GetMethod()
	if m.GetChooseBundle() == nil && !of(&mcphubv1.ConfigService_ServiceDesc, method) &&
		!of(&mcphubv1.RegistryService_ServiceDesc, method) {
		return nil
	}
	return denied(m, "CONFIG_WRITES_OFF", "This page may not change config files; use mcphub config. Nothing was written.")
}

// of reports whether the service has a method with that path.
func of(service *grpc.ServiceDesc, path string) bool {
	return strings.HasPrefix(path, "/"+service.ServiceName+"/")
}

// namesFile returns the reply to a message that makes the hub read a file of this computer, or that needs a file
// dialog. It returns nil for any other message.
func namesFile(m *mcphubv1.AttachRequest) *mcphubv1.AttachResponse {
	if m.GetChooseBundle() == nil {
		var r mcphubv1.ReadBundleRequest
		if m.GetCall().GetRequest().UnmarshalTo(&r) != nil || r.GetPath() == "" {
			return nil // the hub takes no other message for a ReadBundleRequest
		}
	}
	return denied(m, "BUNDLE_NOT_CHOSEN", "A page in a browser cannot name a file; use mcphub config add --bundle.")
}

func denied(m *mcphubv1.AttachRequest, reason, text string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: &mcphubv1.Reply{
		MessageId: m.GetMessageId(),
		Error:     &mcphubv1.HubError{Code: "PERMISSION_DENIED", Reason: reason, Message: text},
	}}}
}

// atRegistry sets the registry in a message that asks one: the page does not choose it. The hub refuses a message whose
// type is not the one of its method.
func atRegistry(m *mcphubv1.AttachRequest, address string) {
	in := m.GetCall().GetRequest()
	var search mcphubv1.SearchRegistryRequest
	if in.UnmarshalTo(&search) == nil {
		search.RegistryUrl = address
		_ = in.MarshalFrom(&search) // cannot fail: it has just been unmarshalled
	}
	var get mcphubv1.GetRegistryServerRequest
	if in.UnmarshalTo(&get) == nil {
		get.RegistryUrl = address
		_ = in.MarshalFrom(&get)
	}
}

// closeSocket closes the socket with a verdict. A socket that is closed already keeps its close code.
func closeSocket(socket *websocket.Conn, v *verdict) { _ = socket.Close(v.code, closeText(v.reason)) }

// closeText cuts a text to the size for a close frame, at a whole character.
func closeText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxReason {
		return text
	}
	end := maxReason - len("...")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
