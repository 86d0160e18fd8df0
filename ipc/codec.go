package ipc

import (
	"errors"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that codec extends
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// largeAnswer is the size in bytes from which on a result is sent without a copy.
const largeAnswer = 64 << 10

// codec is gRPC's codec for protobuf, except that it does not copy a large result_json into the message to send. A
// result may have 64 MiB, and is charged to its server until gRPC has queued it; a copy would never be charged.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

var errNotUTF8 = errors.New("a result is not UTF-8")

// Marshal encodes a message, with a large result as its last field.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(interface {
		proto.Message
		GetResultJson() string
	})
	if !ok || len(m.GetResultJson()) < largeAnswer {
		return c.CodecV2.Marshal(v)
	}
	whole := m.ProtoReflect()
	field := whole.Descriptor().Fields().ByName("result_json")
	if field == nil {
		return c.CodecV2.Marshal(v)
	}
	result := m.GetResultJson()
	if !utf8.ValidString(result) { // protobuf allows only valid UTF-8
		return nil, errNotUTF8
	}
	rest := whole.New()
	whole.Range(func(f protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if f != field {
			rest.Set(f, value)
		}
		return true
	})
	data, err := c.CodecV2.Marshal(rest.Interface())
	if err != nil {
		return nil, err
	}
	head := protowire.AppendVarint(protowire.AppendTag(nil, field.Number(), protowire.BytesType), uint64(len(result)))
	// gRPC does not write to the data that it sends.
	return append(data, mem.SliceBuffer(head), mem.SliceBuffer(unsafe.Slice(unsafe.StringData(result), len(result)))), nil
}
