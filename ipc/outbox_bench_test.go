package ipc

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// BenchmarkPromptClosedToEightWindows measures from the first Deliver until the last of eight windows has handed the
// event to gRPC.
func BenchmarkPromptClosedToEightWindows(b *testing.B) {
	const windows = 8
	s := &sharing{}
	var sent sync.WaitGroup
	var boxes []*outbox
	var runs sync.WaitGroup
	for range windows {
		box := newOutbox(s, 0)
		boxes = append(boxes, box)
		runs.Go(func() {
			_ = box.run(func(*mcphubv1.AttachResponse) error { sent.Done(); return nil })
		})
	}
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sent.Add(windows)
		begin := time.Now()
		e := event.Event{Seq: uint64(i + 1), Time: begin, Body: &event.PromptClosed{PromptID: "p",
			Cause:  event.CauseWithdrawn,
			Reason: "no longer needed"}}
		for _, box := range boxes {
			box.Deliver(e)
		}
		sent.Wait()
		took = append(took, time.Since(begin))
	}
	for _, box := range boxes {
		box.finish(nil)
	}
	runs.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

// BenchmarkDeliverProgress measures one progress event while many requests run: it must not depend on their number.
func BenchmarkDeliverProgress(b *testing.B) {
	for _, requests := range []int{10, 10_000} {
		b.Run(fmt.Sprint(requests, " requests"), func(b *testing.B) {
			box := newOutbox(&sharing{}, 0)
			var run sync.WaitGroup
			run.Go(func() { _ = box.run(func(*mcphubv1.AttachResponse) error { return nil }) })
			bodies := make([]*event.RequestProgressed, requests)
			for i := range bodies {
				bodies[i] = progressed(fmt.Sprint("request-", i), i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				box.Deliver(event.Event{Seq: uint64(i + 1), Body: bodies[i%requests]})
			}
			box.finish(nil)
			run.Wait()
		})
	}
}
