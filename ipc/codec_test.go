package ipc

import (
	"runtime"
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

// Finding A15: a result of 64 MiB is not copied once more for the message.
func TestCodecCopiesNoLargeResult(t *testing.T) {
	text := strings.Repeat("x", 8<<20)
	m := &mcphubv1.CallToolResponse{RequestId: "r1", Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: text}}
	var data mem.BufferSlice
	var err error
	// The first message of a process also pays for what the protobuf runtime keeps of its type, some 100 KiB.
	limit := uint64(len(text) / 8)
	if got := bytesAllocated(func() { data, err = newCodec().Marshal(m) }); err != nil || got > limit {
		t.Fatalf("%d bytes were allocated, %v", got, err)
	}
	last := data[len(data)-1].ReadOnlyData()
	if unsafe.SliceData(last) != unsafe.StringData(text) || len(last) != len(text) {
		t.Error("the message has another text than the result")
	}
}

func TestCodecRefusesWhatIsNoUTF8(t *testing.T) {
	m := &mcphubv1.CallToolResponse{
		Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: strings.Repeat("x", largeAnswer) + "\xff"}}
	if _, err := newCodec().Marshal(m); err == nil {
		t.Error("a message that no host can read was written")
	}
}

func bytesAllocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
