package mcphubv1

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// NewCall returns a message with which a window calls a method. The method is a gRPC path, one of the constants
// SERVICE_METHOD_FullMethodName, and the request is its request message. Error: the request cannot be marshalled,
// because a string in it is not valid UTF-8.
func NewCall(method string, request proto.Message) (*AttachRequest, error) {
	packed, err := anypb.New(request)
	return &AttachRequest{Message: &AttachRequest_Call{Call: &Call{Method: method, Request: packed}}}, err
}

// PromptKinds returns every kind of prompt. Their numbers have no gap.
func PromptKinds() []PromptKind {
	kinds := make([]PromptKind, len(PromptKind_name)-1)
	for i := range kinds {
		kinds[i] = PromptKind(i + 1)
	}
	return kinds
}
