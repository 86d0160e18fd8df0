package jsonrpc_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

func TestBadLinesSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logs bytes.Buffer
		p, w := start(t, jsonrpc.Options{Logger: slog.New(slog.NewTextHandler(&logs, nil))})
		bad := []string{
			"Server listening, password=hunter2", "{}", "[]", "123", `"x"`, "null", "{", `{"jsonrpc":"2.0"}`,
			`{"jsonrpc":"1.0","id":1,"result":{}}`, `{"id":1,"result":{}}`, `{"jsonrpc":2.0,"id":1,"result":{}}`,
			`{"jsonrpc":"2.0","result":{}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":{},"result":{}}`,
			`{"jsonrpc":"2.0","id":{},"method":"m"}`, `{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":""}`,
			`{"jsonrpc":"2.0","id":1,"result":{}} x`, `{"jsonrpc":"2.0","id":1,"result":{},}`,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\x01\"}",
			`[{"jsonrpc":"2.0","id":1,"result":{}}]`, "\xff\xfe", strings.Repeat("[", 20000),
		}
		_, got := begin(t, p, t.Context(), "a", "")
		w.expect(t, called("1", "a"))
		w.send(bad...)
		w.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
			`{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`)
		w.expect(t)
		check(t, "bad lines", p.Stats().BadLines, uint64(len(bad)))
		check(t, "peer errors", p.Stats().PeerErrors, uint64(2))
		w.send(answered("1", `"alive"`))
		check(t, "result", string((<-got).result), `"alive"`)
		if s := logs.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, "-32700") ||
			strings.Count(s, "message ignored") != len(bad) {
			t.Errorf("logs:\n%s", s)
		}
	})
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle, Batches: func() bool { return true }})
		_, first := begin(t, p, t.Context(), "a", "")
		_, second := begin(t, p, t.Context(), "b", "")
		w.expect(t, called("1", "a"), called("2", "b"))
		w.send(`[ {"jsonrpc":"2.0","id":1,"result":[1, [2]]} , 5,[],` + ask("7", "roots/list") + `,` + ask("8", "x") + `,` +
			withdraw("8", "") + `,{"jsonrpc":"2.0","id":2,"result":"]"}]`)
		check(t, "first", string((<-first).result), `[1, [2]]`)
		check(t, "second", string((<-second).result), `"]"`)
		synctest.Wait()
		d.answer(t, "7", "{}")
		w.expect(t, answered("7", "{}"))
		w.send("[]", "[", `[`+answered("1", "1")+`,]`)
		synctest.Wait()
		check(t, "bad lines", p.Stats().BadLines, uint64(5))
		check(t, "unknown responses", p.Stats().UnknownResponses, uint64(0))
	})
}

// lines reads r to its end with a LineConn. It returns the messages, with "too long" in place of each skipped line, the
// errors of the skipped lines, and the error that ended the reading.
func lines(t *testing.T, r io.Reader,
	o jsonrpc.LineConnOptions) (msgs []string, long []jsontext.TooLongError, end error) {
	t.Helper()
	c := jsonrpc.NewLineConn(r, io.Discard, o)
	for {
		msg, err := c.ReadMessage(nil)
		var e *jsontext.TooLongError
		switch {
		case err == nil:
			msgs = append(msgs, string(msg.Text))
		case errors.As(err, &e):
			msgs = append(msgs, "too long")
			long = append(long, *e)
		default:
			return msgs, long, err
		}
	}
}

func TestLineFraming(t *testing.T) {
	const text = "\ufeff{\"a\":1}\r\n\n \t\r\n  {} \t \n\ufeff[1]\n\xef\xbb\n{\"last\":true}"
	want := []string{`{"a":1}`, `{}`, `[1]`, "\xef\xbb", `{"last":true}`}
	for name, r := range map[string]io.Reader{
		"whole":       strings.NewReader(text),
		"bytewise":    iotest.OneByteReader(strings.NewReader(text)),
		"error early": iotest.DataErrReader(strings.NewReader(text)),
	} {
		msgs, _, err := lines(t, r, jsonrpc.LineConnOptions{})
		check(t, name, msgs, want)
		check(t, name, err == io.EOF, true)
	}
	failure := errors.New("failure")
	msgs, _, err := lines(t, io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(failure)),
		jsonrpc.LineConnOptions{})
	check(t, "before failure", msgs, []string{"1", "2"})
	check(t, "failure", err == failure, true)
	_, _, err = lines(t, silent{}, jsonrpc.LineConnOptions{})
	check(t, "silent reader", err == io.ErrNoProgress, true)
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestLineLimit(t *testing.T) {
	for _, limit := range []int{10, 5000, 100_000} {
		fits, tooLong := strings.Repeat("f", limit), strings.Repeat("x", limit+1)
		huge := "HEAD" + strings.Repeat("y", 3*limit+70_000) + "TAIL"
		text := fits + "\n" + tooLong + "\n" + "1\n" + huge + "\n2\n" + huge
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text),
			"half": iotest.HalfReader(strings.NewReader(text))} {
			msgs, long, err := lines(t, r, jsonrpc.LineConnOptions{MaxLine: limit})
			check(t, name, msgs, []string{fits, "too long", "1", "too long", "2", "too long"})
			check(t, name, err == io.EOF, true)
			check(t, "size", []int64{long[0].Size, long[1].Size, long[2].Size},
				[]int64{int64(limit + 1), int64(len(huge)), int64(len(huge))})
			check(t, "head", string(long[1].Head), huge[:min(4096, len(long[1].Head))])
			check(t, "tail", string(long[1].Tail), huge[len(huge)-4096:])
			check(t, "limit", long[1].Limit, limit)
		}
	}
}

func TestOversizeLine(t *testing.T) {
	pad := strings.Repeat(`"id":9,\"id\":9`, 5000)
	pad = `{"text":"` + strings.ReplaceAll(pad, `"`, `\"`) + `","id":4}`
	open := func(t *testing.T, calls int) (*jsonrpc.Peer, *io.PipeWriter, []<-chan outcome, func() string) {
		theirR, ourW := io.Pipe()
		ourR, theirW := io.Pipe()
		p := jsonrpc.NewPeer(jsonrpc.NewLineConn(ourR, ourW, jsonrpc.LineConnOptions{MaxLine: 50_000}), jsonrpc.Options{})
		t.Cleanup(func() { p.Close(errTestOver) })
		got := make(chan string, 100)
		go func() {
			c := jsonrpc.NewLineConn(theirR, io.Discard, jsonrpc.LineConnOptions{})
			for {
				msg, err := c.ReadMessage(nil)
				if err != nil {
					return
				}
				got <- string(msg.Text)
			}
		}()
		var outcomes []<-chan outcome
		for range calls {
			_, o := begin(t, p, t.Context(), "m", "")
			<-got
			outcomes = append(outcomes, o)
		}
		return p, theirW, outcomes, func() string { return <-got }
	}
	failed := func(t *testing.T, o outcome) {
		t.Helper()
		var e *jsonrpc.ResultTooLargeError
		if !errors.As(o.err, &e) || e.Limit != 50_000 || e.Size < 50_000 || !strings.Contains(e.Error(), "maxMessageBytes") {
			t.Fatalf("error %v", o.err)
		}
	}
	for name, line := range map[string]string{
		"id first":          `{"jsonrpc":"2.0","id":2,"result":` + pad + `}`,
		"id last":           `{"jsonrpc":"2.0","result":` + pad + `,"id":2}`,
		"id before version": `{"result":` + pad + `, "id" : 2 , "jsonrpc" : "2.0" } `,
		"error":             `{"jsonrpc":"2.0","error":{"code":1,"message":"x","data":` + pad + `},"id":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w, calls, _ := open(t, 3)
				io.WriteString(w, line+"\n"+answered("1", "1")+"\n")
				failed(t, <-calls[1])
				check(t, "first", string((<-calls[0]).result), "1")
				check(t, "third is pending", p.Tracker().IsPending(jsonrpc.Outgoing, jsonrpc.IntID(3)), true)
				check(t, "count", p.Stats().OversizeLines, uint64(1))
			})
		})
	}
	t.Run("unknown id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w, _, _ := open(t, 2)
			io.WriteString(w, `{"jsonrpc":"2.0","id":77,"result":`+pad+"}\n")
			io.WriteString(w, strings.Repeat("garbage ", 10_000)+"\n")
			io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/message","params":`+pad+"}\n")
			synctest.Wait()
			check(t, "pending", len(p.Tracker().Pending()), 2)
			check(t, "count", p.Stats().OversizeLines, uint64(3))
		})
	})
	// Finding A9. A long line that is not a response with an id is not taken for the answer to the one open call, which
	// gets its real answer.
	for name, line := range map[string]string{
		"log line":         "DEBUG " + pad + pad,
		"log line in JSON": `{"level":"info","id":1,"result":` + pad + `}`,
		"notification":     `{"jsonrpc":"2.0","method":"notifications/message","params":` + pad + `}`,
		"params before method": `{"jsonrpc":"2.0","params":{"level":"info","data":` + pad +
			`},"method":"notifications/message"}`,
		"no id": `{"result":` + pad + `,"jsonrpc":"2.0"}`,
	} {
		t.Run("with one call open, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w, calls, _ := open(t, 1)
				io.WriteString(w, line+"\n"+answered("1", "1")+"\n")
				check(t, "result", string((<-calls[0]).result), "1")
				check(t, "count", p.Stats().OversizeLines, uint64(1))
			})
		})
	}
	t.Run("request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, w, _, next := open(t, 1)
			io.WriteString(w, `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":`+pad+"}\n")
			check(t, "answer", next(), `{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"the request is too long"}}`)
		})
	})
}
