package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Limits for the questions that a server withdraws: questions in one call, so that the window does not fall behind, and
// open questions at a time.
const (
	portion = 500
	openAsk = 32
)

// measureLeaks counts the goroutines of a hub before and after 10,000 cancelled calls and 10,000 questions that a
// server withdrew. Everything goes through the door, and a window is attached.
func measureLeaks(ctx context.Context, o options) ([]row, error) {
	client, err := openHub(ctx, o, o.bin.self, []string{probedHub}, "echo")
	if err != nil {
		return nil, err
	}
	defer closeHub(client)
	w, err := attach(ctx, client.Editor, allKinds)
	if err != nil {
		return nil, err
	}
	defer w.close()
	n := pick(o, 10_000, 2_000)
	// The first turn creates what lives for the whole process, such as gRPC's buffers and the runtime's idle helpers.
	if err := cancelOut(ctx, client, w, portion); err != nil {
		return nil, err
	}
	if _, err := cancelIn(ctx, client, w, portion); err != nil {
		return nil, err
	}
	before, err := settled(ctx, client, 0)
	if err != nil {
		return nil, err
	}
	if err := cancelOut(ctx, client, w, n); err != nil {
		return nil, err
	}
	out, err := settled(ctx, client, before.Goroutines)
	if err != nil {
		return nil, err
	}
	answered, err := cancelIn(ctx, client, w, n)
	if err != nil {
		return nil, err
	}
	in, err := settled(ctx, client, out.Goroutines)
	if err != nil {
		return nil, err
	}
	kib := func(a, b look) float64 { return (float64(a.Heap) - float64(b.Heap)) / 1024 }
	return []row{
		number(fmt.Sprintf("goroutines left after %d cancelled calls", n), float64(out.Goroutines-before.Goroutines), "",
			"of %d; heap %+.0f KiB", before.Goroutines, kib(out, before)).atMost(0),
		number(fmt.Sprintf("goroutines left after %d withdrawn questions", n), float64(in.Goroutines-out.Goroutines), "",
			"of %d; heap %+.0f KiB", out.Goroutines, kib(in, out)).atMost(0),
		number("answers to questions that were withdrawn", float64(answered), "", "").atMost(0),
	}, nil
}

// cancelOut cancels n calls in flight, and waits until the window has received their ends.
func cancelOut(ctx context.Context, client *host.Client, w *window, n int) error {
	for n > 0 {
		now := min(n, 2*portion)
		n -= now
		before := w.count()
		calls, err := hang(ctx, client, now)
		if err != nil {
			return err
		}
		if err := calls.cancelAll(ctx); err != nil {
			return err
		}
		if err := w.await(ctx, func(s *sightings) bool { return s.finished >= before.finished+now }); err != nil {
			return err
		}
	}
	return nil
}

// cancelIn lets the server withdraw n questions, and returns how many were answered nevertheless.
func cancelIn(ctx context.Context, client *host.Client, w *window, n int) (answered int, err error) {
	for range n / portion {
		text, err := callTool(ctx, client.Hub, "echo", "withdraw", fmt.Sprintf(`{"count":%d,"open":%d}`, portion, openAsk))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(text, `"text":"`)
		var got int
		if _, err := fmt.Sscanf(rest, "%d", &got); err != nil {
			return 0, fmt.Errorf("the server's count %q: %w", text, err)
		}
		answered += got
		for { // the call can end before the last of its questions
			r, err := client.Hub.ListRequests(ctx, &mcphubv1.ListRequestsRequest{}, bigAnswers)
			if err != nil {
				return 0, err
			}
			if len(r.GetRequests()) == 0 {
				break
			}
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return 0, err
			}
		}
		if err := w.await(ctx, func(s *sightings) bool { return s.closed == s.opened }); err != nil {
			return 0, err
		}
	}
	return answered, nil
}

// settled returns a look into the hub once the number of goroutines is down to want, or does not change any more.
func settled(ctx context.Context, client *host.Client, want int) (look, error) {
	var last look
	for still := 0; still < 10; {
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return look{}, err
		}
		l, err := probe(ctx, client)
		if err != nil {
			return look{}, err
		}
		if l.Goroutines == last.Goroutines {
			still++
		} else {
			still = 0
		}
		last = l
		if l.Goroutines <= want {
			break
		}
	}
	return last, nil
}
