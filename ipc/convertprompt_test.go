package ipc

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Nothing that a person has to see before a launch, or before a value is given, is lost on the way: with every field of
// the hub's question set, every field of the message is.
func TestQuestionsAboutAServerGoWhole(t *testing.T) {
	var launch event.LaunchQuestion
	var input event.InputQuestion
	fillIn(reflect.ValueOf(&launch).Elem())
	fillIn(reflect.ValueOf(&input).Elem())
	for _, m := range []proto.Message{converter{}.launch(&launch), converter{}.configInput(&input)} {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); !m.ProtoReflect().Has(f) {
				t.Errorf("%s is not set", f.FullName())
			}
		}
	}
}

// fillIn gives every field a value that is not its zero value.
func fillIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	}
}
