package ipc

import (
	"errors"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that this one is built on
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// largeAnswer is the size from which on a result is sent without a copy.
const largeAnswer = 64 << 10

// codec is gRPC's own for protobuf, except that it copies no large result_json into the message that leaves: a result
// may have 64 MiB, and counts against its server until gRPC has queued it; a copy would never count.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

var errNotUTF8 = errors.New("a result is not UTF-8")

// Marshal writes a large result as the last field of its message.
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
	if !utf8.ValidString(result) { // protobuf allows no other string
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
	// gRPC only reads what it sends.
	return append(data, mem.SliceBuffer(head), mem.SliceBuffer(unsafe.Slice(unsafe.StringData(result), len(result)))), nil
}
