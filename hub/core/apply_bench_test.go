package core

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// BenchmarkApply applies the events of calls that nobody is asked about, beside a thousand open ones. An operation is
// one event.
func BenchmarkApply(b *testing.B) {
	s := New("hub")
	s.Apply(start, Shows{allKinds()})
	made := RequestMade{Prefix: "call", Server: 1, Call: true, Idle: 1e12, Total: 1e12}
	for range 1000 {
		s.Apply(start, made)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		switch i % 4 {
		case 0:
			s.Apply(start, made)
		case 1:
			s.Apply(start, RequestMoved{s.begun, event.StateRunning})
		case 2:
			s.Apply(start, Progressed{Request: s.begun, Shown: true})
		default:
			s.Apply(start, CallOver{Request: s.begun})
		}
	}
}
