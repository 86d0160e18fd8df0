package ipc

import (
	"strings"
	"testing"
	"unsafe"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Whatever the size, a host, which has gRPC's own codec, reads the message that was written, and that codec writes as
// many bytes.
func TestCodecWritesWhatProtobufReads(t *testing.T) {
	own := encoding.GetCodecV2("proto")
	large := strings.Repeat("ü", largeAnswer)
	result := func(text string) *mcphubv1.CallToolResponse {
		return &mcphubv1.CallToolResponse{
			RequestId: "r1", Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: text}, IsError: true, Rounds: 3,
			Timings: &mcphubv1.Timings{Active: durationpb.New(7)}, OutputViolations: []string{"a", "b"},
		}
	}
	for name, m := range map[string]proto.Message{
		"small": result("{}"), "large": result(large), "just large": result(large[:largeAnswer]),
		"just small": result(large[:largeAnswer-2]),
		"error": &mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_Error{
			Error: &mcphubv1.McpError{Code: -1, Message: large}}},
		"resource": &mcphubv1.ReadResourceResponse{
			Outcome: &mcphubv1.ReadResourceResponse_ResultJson{ResultJson: large}},
		"others": &mcphubv1.ListToolsResponse{Tools: []*mcphubv1.Tool{{Name: "t", DefinitionJson: large}}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := newCodec().Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			got := m.ProtoReflect().New().Interface()
			if err := own.Unmarshal(data, got); err != nil || !proto.Equal(got, m) {
				t.Errorf("%v; the message differs from what was written", err)
			}
			want, err := own.Marshal(m)
			if err != nil || want.Len() != data.Len() {
				t.Errorf("%d bytes; gRPC's codec writes %d, %v", data.Len(), want.Len(), err)
			}
		})
	}
}

// marshals is gRPC's codec, and keeps what it was given to marshal.
type marshals struct {
	encoding.CodecV2
	given []proto.Message
}

func (c *marshals) Marshal(v any) (mem.BufferSlice, error) {
	c.given = append(c.given, v.(proto.Message))
	return c.CodecV2.Marshal(v)
}

// Finding A15: a result of 64 MiB is not copied once more for the message.
func TestCodecCopiesNoLargeResult(t *testing.T) {
	text := strings.Repeat("x", 8<<20)
	m := &mcphubv1.CallToolResponse{RequestId: "r1", Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: text}}
	own := &marshals{CodecV2: encoding.GetCodecV2("proto")}
	data, err := codec{own}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	last := data[len(data)-1].ReadOnlyData()
	if unsafe.SliceData(last) != unsafe.StringData(text) || len(last) != len(text) {
		t.Error("the message has another text than the result")
	}
	if others := data.Len() - len(last); others > 100 {
		t.Errorf("the message has %d bytes beside the result", others)
	}
	for _, given := range own.given {
		if n := proto.Size(given); n > 100 {
			t.Errorf("a message of %d bytes was marshalled", n)
		}
	}
}

func TestCodecRefusesWhatIsNoUTF8(t *testing.T) {
	m := &mcphubv1.CallToolResponse{
		Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: strings.Repeat("x", largeAnswer) + "\xff"}}
	if _, err := newCodec().Marshal(m); err == nil {
		t.Error("a message that no host can read was written")
	}
}
