package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// fault is what a client does wrong.
type fault string

const (
	none             fault = ""
	noCancel         fault = "gives a call up without a cancel"
	twice            fault = "cancels twice"
	wrongID          fault = "cancels an id that it never used"
	retypedID        fault = "sends the id of a number as a string"
	noReason         fault = "gives no reason"
	beforeCall       fault = "cancels before the call"
	afterAnswer      fault = "cancels after the answer"
	afterEachAnswer  fault = "cancels each request right after its answer"
	cancelsHello     fault = "cancels initialize"
	answersWithdrawn fault = "answers a question that was withdrawn"
	refusesWithdrawn fault = "answers a withdrawn question with an error"
	diesOfLate       fault = "dies of a late answer"
	keepsOpen        fault = "ends, and leaves the connection open"
	killsAtOnce      fault = "sends a signal together with the end of the input"
	neverSignals     fault = "does not look after a server that hangs"
	killsFirst       fault = "ends its server by a signal alone"
)

// script is a client of raw JSON with one fault.
type script struct {
	fault   fault
	to      io.WriteCloser
	answers map[string]chan struct{} // closed when the request is answered
	asks    chan struct{}            // a question came
	dead    chan struct{}
}

func (c *script) send(format string, args ...any) {
	_, _ = fmt.Fprintf(c.to, `{"jsonrpc":"2.0",`+format+"}\n", args...) // a dead client's pipe is closed
}

// listen reads until the end. known has a channel for each request that will be sent.
func (c *script) listen(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		m := lines.Bytes()
		id, method := string(jsontext.Get(m, "id")), jsontext.String(jsontext.Get(m, "method"))
		switch {
		case method == "ping":
			c.send(`"id":%s,"result":{}`, id)
		case method == "elicitation/create" && len(c.asks) == 0:
			c.asks <- struct{}{}
			c.send(`"id":%s,"result":{"action":"decline"}`, id)
		case method == methodCancelled && c.fault == answersWithdrawn:
			c.send(`"id":%s,"result":{"action":"accept","content":{}}`, jsontext.Get(jsontext.Get(m, "params"), "requestId"))
		case method == methodCancelled && c.fault == refusesWithdrawn:
			c.send(`"id":%s,"error":{"code":0,"message":"cancelled"}`, jsontext.Get(jsontext.Get(m, "params"), "requestId"))
		case method == "" && id == "4" && c.fault == diesOfLate:
			close(c.dead)
			_ = c.to.Close()
			return
		case method == "":
			if c.fault == afterEachAnswer {
				c.send(`"method":"notifications/cancelled","params":{"requestId":%s,"reason":"done"}`, id)
			}
			if answered := c.answers[id]; answered != nil {
				close(answered)
			}
		}
	}
}

func (c *script) ask(id int, method, params string) (answered <-chan struct{}) {
	c.send(`"id":%d,"method":%q,"params":%s`, id, method, params)
	return c.answers[fmt.Sprint(id)]
}

func (c *script) call(id int, tool string) <-chan struct{} {
	return c.ask(id, "tools/call", `{"name":"`+tool+`","arguments":{}}`)
}

func (c *script) cancel(id, reason string) {
	c.send(`"method":"notifications/cancelled","params":{"requestId":%s%s}`, id, reason)
}

// play does what a sound client does, with its fault.
func (c *script) play(era string, signals chan<- os.Signal) {
	if era == "legacy" {
		hello := c.ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},`+
			`"clientInfo":{"name":"script","version":"1"}}`)
		if c.fault == cancelsHello {
			c.cancel("1", `,"reason":"slow"`)
		}
		<-hello
		c.send(`"method":"notifications/initialized"`)
	}
	<-c.ask(2, "tools/list", `{}`)
	<-c.call(3, "ask")
	c.stop()
	select {
	case <-c.dead:
		return
	default:
	}
	<-c.call(5, "ask_then_withdraw")
	switch c.fault {
	case keepsOpen:
		return
	case killsFirst:
		signals <- syscall.SIGTERM
		return
	}
	_ = c.to.Close()
	switch c.fault {
	case killsAtOnce:
		synctest.Wait()
		signals <- syscall.SIGTERM
	case neverSignals:
	default:
		time.Sleep(2 * time.Second)
		signals <- syscall.SIGTERM
	}
}

// stop calls the slow tool and cancels it.
func (c *script) stop() {
	const reason = `,"reason":"changed my mind"`
	if c.fault == beforeCall {
		c.cancel("4", reason)
	}
	late := c.call(4, "slow")
	time.Sleep(time.Second)
	switch c.fault {
	case noCancel, beforeCall:
		return
	case wrongID:
		c.cancel("44", reason)
		return
	case retypedID:
		c.cancel(`"4"`, reason)
		return
	case noReason:
		c.cancel("4", "")
	case afterAnswer:
		time.Sleep(5 * time.Second)
		c.cancel("3", reason)
		c.cancel("4", reason)
	case twice:
		c.cancel("4", reason)
		c.cancel("4", reason)
	default:
		c.cancel("4", reason)
	}
	select {
	case <-late:
	case <-c.dead:
	}
	time.Sleep(time.Second)
}

// examined plays the server of a script, and judges it.
func examined(t *testing.T, f fault) (found []doctor.Finding) {
	synctest.Test(t, func(t *testing.T) {
		toServer, in := io.Pipe()
		out, fromServer := io.Pipe()
		j := NewJournal()
		record, signals, served := j.Connection(), make(chan os.Signal, 1), make(chan struct{})
		go func() {
			defer close(served)
			Serve(t.Context(), jsonrpc.NewLineConn(toServer, fromServer, jsonrpc.LineConnOptions{}), signals, "1", record)
			_ = fromServer.Close()
		}()
		c := &script{fault: f, to: in, asks: make(chan struct{}, 1), answers: map[string]chan struct{}{},
			dead: make(chan struct{})}
		for id := range 6 {
			c.answers[fmt.Sprint(id)] = make(chan struct{})
		}
		read := make(chan struct{})
		go func() {
			defer close(read)
			c.listen(out)
			_, _ = io.Copy(io.Discard, out)
		}()
		c.play("legacy", signals)
		j.add(Event{Kind: Over})
		if f == keepsOpen {
			record(Event{Kind: Cut})
			_ = in.Close()
		}
		<-served
		<-read
		found = Judge(j.Events())
		if t.Failed() {
			for _, e := range j.Events() {
				text, _ := json.Marshal(e)
				t.Logf("%s", text)
			}
		}
	})
	return found
}

// levels returns the findings that are neither good nor a note.
func levels(found []doctor.Finding) map[string]doctor.Level {
	bad := map[string]doctor.Level{}
	for _, f := range found {
		if f.Level != doctor.Good && f.Level != doctor.Note {
			bad[f.Check] = f.Level
		}
	}
	return bad
}

// Each fault of a client is found, with its own name, and nothing else is said to be wrong.
func TestFaultsOfClients(t *testing.T) {
	for _, c := range []struct {
		fault fault
		want  map[string]doctor.Level
	}{
		{none, nil},
		{noCancel, map[string]doctor.Level{"cancel.sent": doctor.Mend, "cancel.once": doctor.Unseen,
			"cancel.id": doctor.Unseen, "cancel.order": doctor.Unseen, "cancel.reason": doctor.Unseen,
			"cancel.late": doctor.Unseen}},
		{twice, map[string]doctor.Level{"cancel.once": doctor.Mend}},
		{wrongID, map[string]doctor.Level{"cancel.id": doctor.Mend, "cancel.once": doctor.Unseen,
			"cancel.late": doctor.Unseen}},
		{retypedID, map[string]doctor.Level{"cancel.id": doctor.Mend, "cancel.once": doctor.Unseen,
			"cancel.late": doctor.Unseen}},
		{noReason, map[string]doctor.Level{"cancel.reason": doctor.Improve}},
		{beforeCall, map[string]doctor.Level{"cancel.order": doctor.Mend, "cancel.sent": doctor.Mend,
			"cancel.once": doctor.Unseen, "cancel.late": doctor.Unseen}},
		{afterAnswer, map[string]doctor.Level{"cancel.order": doctor.Mend}},
		{afterEachAnswer, map[string]doctor.Level{"cancel.order": doctor.Mend, "cancel.once": doctor.Mend,
			"cancel.initialize": doctor.Mend}},
		{cancelsHello, map[string]doctor.Level{"cancel.initialize": doctor.Mend}},
		{answersWithdrawn, map[string]doctor.Level{"question.withdrawn": doctor.Mend}},
		{refusesWithdrawn, map[string]doctor.Level{"question.withdrawn": doctor.Improve}},
		{diesOfLate, map[string]doctor.Level{"cancel.late": doctor.Mend, "question.withdrawn": doctor.Unseen,
			"end.signal": doctor.Mend}},
		{keepsOpen, map[string]doctor.Level{"end.stdin": doctor.Mend}},
		{killsAtOnce, map[string]doctor.Level{"end.signal": doctor.Improve}},
		{neverSignals, map[string]doctor.Level{"end.signal": doctor.Mend}},
		{killsFirst, map[string]doctor.Level{"end.stdin": doctor.Improve}},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			found := examined(t, c.fault)
			if got := levels(found); !maps.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
				for _, f := range found {
					t.Logf("%-9s %-20s %s", f.Level, f.Check, f.Seen)
				}
			}
			if !slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Transport == doctor.Stdio }) {
				t.Error("nothing was found at all")
			}
		})
	}
}
