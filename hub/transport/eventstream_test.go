package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

var compareEvents = cmp.AllowUnexported(event{})

// readEvents reads to the end, and returns the error there. To the name of an event that was too long it appends the
// error.
func readEvents(t testing.TB, r io.Reader, maxData int) (events []event, end error) {
	t.Helper()
	for reader := newEventReader(r, maxData, nil); ; {
		ev, err := reader.next()
		var long *jsontext.TooLongError
		if errors.As(err, &long) {
			if ev.data != nil {
				t.Errorf("an event that is too long came with %d bytes of data", len(ev.data))
			}
			ev.name += fmt.Sprintf("|%v|%s|%s", err, long.Head, long.Tail)
		} else if err != nil {
			if _, again := reader.next(); again != err {
				t.Errorf("after the end: %v, then %v", err, again)
			}
			return events, err
		}
		events = append(events, ev)
	}
}

func TestEventStream(t *testing.T) {
	message := func(data string) event { return event{data: []byte(data)} }
	for _, tt := range []struct {
		name, stream string
		want         []event
		end          error
	}{
		{"nothing", "", nil, io.EOF},
		{"one", "data: a\n\n", []event{message("a")}, io.EOF},
		{"name", "event: endpoint\ndata: /x\n\ndata: b\n\n", []event{{name: "endpoint", data: []byte("/x")}, message("b")},
			io.EOF},
		{"name without data", "event: x\n\ndata: b\n\n", []event{message("b")}, io.EOF},
		{"CRLF", "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{name: "e", data: []byte("a")}, message("b")}, io.EOF},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []event{message("a\nb"), message("c")}, io.EOF},
		{"mixed line ends", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r", []event{message("a\nb\nc"), message("d")},
			io.EOF},
		{"multi-line", "data: a\ndata\ndata:\ndata: b\n\n", []event{message("a\n\n\nb")}, io.EOF},
		{"byte order mark", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []event{message("a")}, io.EOF},
		{"byte order mark before a comment", "\ufeff: hello\ndata: a\n\n", []event{message("a")}, io.EOF},
		{"byte order mark before the longest name", "\ufeffevent: e\ndata: a\n\n", []event{{name: "e", data: []byte("a")}},
			io.EOF},
		{"byte order mark alone", "\ufeff\n\ndata: a\n\n", []event{message("a")}, io.EOF},
		{"half a byte order mark", "\xef\xbbdata: x\n\ndata: a\n\n", []event{message("a")}, io.EOF},
		{"comments", ":\n\n: ping\n\n:data: x\n:\n:\ndata: a\n: within\ndata: b\n\n:\n\n", []event{message("a\nb")}, io.EOF},
		{"one blank after the colon is skipped", "data:a\n\ndata:  b \n\ndata:\tc\n\n", []event{message("a"), message(" b "), message("\tc")},
			io.EOF},
		{"colons in the value", "data::a:b\n\n", []event{message(":a:b")}, io.EOF},
		{"unknown fields", "foo: 1\nDATA: x\ndata : x\n data: x\nevents: x\ndatum\ndatadatadatadata: x\ndata: a\n\n",
			[]event{message("a")}, io.EOF},
		{"empty data", "data\n\ndata:\n\ndata: \n\n", []event{message(""), message(""), message("")}, io.EOF},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []event{message("a")}, io.EOF},
		{"id", "id: 1\ndata: a\n\ndata: b\n\n", []event{{id: "1", hasID: true, data: []byte("a")}, message("b")}, io.EOF},
		{"id alone", "id: 7/ü \"x\"\n\n", []event{{id: "7/ü \"x\"", hasID: true}}, io.EOF},
		{"id with empty data", "id: 7\nretry: 20\ndata:\n\n", []event{{id: "7", hasID: true, retry: 20 * time.Millisecond,
			hasRetry: true, data: []byte{}}}, io.EOF},
		{"empty id", "id\ndata: a\n\nid:\n\n", []event{{hasID: true, data: []byte("a")}, {hasID: true}}, io.EOF},
		{"id with NUL", "id: a\x00b\ndata: a\n\n", []event{message("a")}, io.EOF},
		{"last id counts", "id: 1\nid: 2\ndata: a\n\n", []event{{id: "2", hasID: true, data: []byte("a")}}, io.EOF},
		{"id too long for a header", "id: " + strings.Repeat("x", maxEventField+1) + "\ndata: a\n\n", []event{message("a")},
			io.EOF},
		{"retry alone", "retry: 2500\n\n", []event{{retry: 2500 * time.Millisecond, hasRetry: true}}, io.EOF},
		{"retry of digits only", "retry: 1s\nretry:\nretry: -1\nretry: 1.5\nretry:  7\ndata: a\n\n", []event{message("a")},
			io.EOF},
		{"retry for ever", "retry: 99999999999999999999\n\n", []event{{retry: math.MaxInt64, hasRetry: true}}, io.EOF},
		{"no blank line at the end", "data: a\n\ndata: b\n", []event{message("a")}, io.ErrUnexpectedEOF},
		{"no line end at the end", "data: a\n\ndata: b", []event{message("a")}, io.ErrUnexpectedEOF},
		{"id at the end", "data: a\n\nid: 1\n", []event{message("a")}, io.EOF},
		{"comment at the end", "data: a\n\n: pi", []event{message("a")}, io.EOF},
		{"too long", "id: 3\nevent: x\ndata: " + strings.Repeat("a", 5000) + "\ndata: " + strings.Repeat("b", 5000) +
			"\n\ndata: b\n\n", []event{
			{
				id: "3", hasID: true,
				name: "x|a message of 10001 bytes is longer than the limit of 9000|" + strings.Repeat("a", 4096) + "|" +
					strings.Repeat("b", 4096),
			},
			message("b"),
		}, io.EOF},
		{"just long enough", "data: " + strings.Repeat("a", 8999) +
			"\ndata:\n\n", []event{message(strings.Repeat("a", 8999) + "\n")}, io.EOF},
		{"too long at the end", "data: " + strings.Repeat("a", 9001) + "\n", nil, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole":             strings.NewReader(tt.stream),
				"byte by byte":      iotest.OneByteReader(strings.NewReader(tt.stream)),
				"end with the data": iotest.DataErrReader(strings.NewReader(tt.stream)),
			} {
				got, end := readEvents(t, r, 9000)
				if diff := cmp.Diff(tt.want, got, compareEvents); diff != "" || end != tt.end {
					t.Errorf("%s: end %v, want %v; events (-want +got):\n%s", how, end, tt.end, diff)
				}
			}
		})
	}
}

// An event is returned as soon as the blank line after it has come, whatever ends that line: the reader does not wait
// for the next byte.
func TestEventStreamGivesEventsAtOnce(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n", "\r\n\r"} {
		r, w := io.Pipe()
		reader := newEventReader(r, 1<<10, nil)
		go io.WriteString(w, "data: a"+end) // and no more
		if ev, err := reader.next(); err != nil || string(ev.data) != "a" {
			t.Errorf("%q: %q, %v", end, ev.data, err)
		}
		r.Close()
	}
}

func TestEventStreamPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	r := newEventReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 1<<10, nil)
	if ev, err := r.next(); err != nil || string(ev.data) != "a" {
		t.Fatal(ev, err)
	}
	for range 2 {
		if _, err := r.next(); err != broken {
			t.Errorf("%v, want %v", err, broken)
		}
	}
	r = newEventReader(silentReader{}, 1<<10, nil)
	if _, err := r.next(); err != io.ErrNoProgress {
		t.Errorf("%v, want %v", err, io.ErrNoProgress)
	}
}

type silentReader struct{}

func (silentReader) Read([]byte) (int, error) { return 0, nil }

// The data of an event belongs to the caller: it does not change while the stream is read on.
func TestEventStreamGivesDataAway(t *testing.T) {
	r := newEventReader(strings.NewReader("data: first\n\ndata: other\n\ndata: third\n\n"), 1<<10, nil)
	first, _ := r.next()
	for range 2 {
		ev, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		clear(ev.data)
	}
	if string(first.data) != "first" {
		t.Errorf("the first event became %q", first.data)
	}
}

// Keep-alives are read without an allocation for each.
func TestEventStreamKeepAlivesCostNothing(t *testing.T) {
	stream := strings.Repeat(":\n\n: keep-alive\r\n\r\n", 20_000)
	if n := testing.AllocsPerRun(1, func() {
		if _, err := newEventReader(strings.NewReader(stream), 1<<10, nil).next(); err != io.EOF {
			t.Fatal(err)
		}
	}); n > 200 {
		t.Errorf("%.0f allocations for 40,000 comments", n)
	}
}

// A huge event is read with memory in proportion to it, and none of that stays once the reader waits for the next.
func TestEventStreamGivesMemoryBack_amount(t *testing.T) {
	const size = 64 << 20
	part := bytes.Repeat([]byte("x"), 1<<20)
	in, w := io.Pipe()
	go func() {
		io.WriteString(w, "data: ")
		for range size / len(part) {
			w.Write(part)
		}
		io.WriteString(w, "\n\n")
		w.CloseWithError(io.EOF)
	}()
	r := newEventReader(in, size, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ev, err := r.next()
	if err != nil || len(ev.data) != size {
		t.Fatal(len(ev.data), err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 3*size {
		t.Errorf("%d MiB allocated for %d", got>>20, size>>20)
	}
	ev = event{}
	if _, err := r.next(); err != io.EOF {
		t.Fatal(err)
	}
	if len(r.buf) > idleEventBuffer || r.data.Len() > 0 {
		t.Errorf("%d bytes of buffer stay", len(r.buf))
	}
	runtime.KeepAlive(ev)
}

// naiveEvents reads a stream as the standard describes it, all at once.
func naiveEvents(stream []byte, maxData int) (events []event, end error) {
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	rest := lines[len(lines)-1] // not ended
	var ev event
	var data []string
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		if line == "" {
			if joined := strings.Join(data, "\n"); len(joined) > maxData {
				ev.name += fmt.Sprintf("|%v|%s|%s", &jsontext.TooLongError{Limit: maxData, Size: int64(len(joined))},
					joined[:min(len(joined), (4<<10))], joined[max(0, len(joined)-(4<<10)):])
			} else if data != nil {
				ev.data = []byte(joined)
			}
			if data != nil || ev.hasID || ev.hasRetry {
				events = append(events, ev)
			}
			ev, data = event{}, nil
			continue
		}
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			if len(value) <= maxEventField {
				ev.name = value
			}
		case "id":
			if !strings.Contains(value, "\x00") && len(value) <= maxEventField {
				ev.id, ev.hasID = value, true
			}
		case "retry":
			if strings.Trim(value, "0123456789") == "" && value != "" && len(value) <= maxEventField {
				n, err := strconv.ParseInt(value, 10, 64)
				ev.hasRetry, ev.retry = true, time.Duration(n)*time.Millisecond
				if err != nil || n > int64(math.MaxInt64/time.Millisecond) {
					ev.retry = math.MaxInt64
				}
			}
		}
	}
	if data != nil || strings.HasPrefix(rest, "data:") {
		return events, io.ErrUnexpectedEOF
	}
	return events, io.EOF
}

// randomReader returns pieces of random length, some of them empty.
type randomReader struct {
	rest []byte
	rand *rand.Rand
}

func (r *randomReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.rand.IntN(8))], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Any split of the same bytes gives the same events, and those of the naive reader.
func FuzzEventStream(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "\ufeffid: 1\r\nretry: 10\r\ndata: a\r\ndata: b\r\n\r\n", "event: x\rdata\r\r: c\n\ndata: cut",
		"id: a\x00\n\nid\n\n",
		"data: 0123456789012345678901234567890123456789\n\ndata: b\n\n", "\n\r\n\r\r\n", "data\n\ndata:\n\n", "\xef\xbb",
		"retry: 99999999999999999999\n\n",
	} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		const limit = 32
		want, wantEnd := naiveEvents(stream, limit)
		for how, r := range map[string]io.Reader{
			"whole":        bytes.NewReader(stream),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
			"at random":    &randomReader{rest: stream, rand: rand.New(rand.NewPCG(seed, 1))},
		} {
			got, end := readEvents(t, r, limit)
			if diff := cmp.Diff(want, got, compareEvents); diff != "" || end != wantEnd {
				t.Errorf("%s: end %v, want %v; events (-want +got):\n%s", how, end, wantEnd, diff)
			}
		}
	})
}

func BenchmarkEventStream(b *testing.B) {
	for _, bm := range []struct {
		name, event string
	}{
		{"small", "event: message\nid: 12345\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n"},
		{"comments", ": keep-alive\n\n"},
		{"short lines", strings.Repeat("data: x\n", 1000) + "\n"},
		{"1 MiB", "data: " + strings.Repeat("x", 1<<20) + "\n\n"},
		{"64 MiB", "data: " + strings.Repeat("x", 64<<20) + "\n\n"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			one := []byte(bm.event)
			r := newEventReader(&repeatReader{of: one, times: b.N}, 64<<20, nil)
			b.SetBytes(int64(len(one)))
			b.ReportAllocs()
			b.ResetTimer()
			for {
				if _, err := r.next(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeatReader gives the same bytes a number of times.
type repeatReader struct {
	of, rest []byte
	times    int
}

func (r *repeatReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.times == 0 {
				return n, io.EOF
			}
			r.times--
			r.rest = r.of
		}
		c := copy(p[n:], r.rest)
		r.rest = r.rest[c:]
		n += c
	}
	return n, nil
}
