package transport

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

func pong(id int) Message {
	return Message{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, id)}
}

func rootsAnswer(id int) Message {
	return Message{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"roots":[]}}`, id)}
}

// answersSeen counts the POSTs that the server got with this result.
func (w *webWorld) answersSeen(result string) (n int) {
	for _, x := range w.requests("POST") {
		if strings.Contains(x.Body, result) {
			n++
		}
	}
	return n
}

// A notification whose POST the server does not answer delays no answer to the server's requests. Finding B6.
func TestAnswersWaitForNoNotification(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"notifications/roots/list_changed": func(x *exchangeSeen) {
		x.left()
	}}, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("", "notifications/roots/list_changed")
		synctest.Wait()
		from := time.Since(w.began)
		w.s.Send(pong(1))
		w.s.Send(rootsAnswer(2))
		synctest.Wait()
		if w.answersSeen(`"result":{}`) != 1 || w.answersSeen(`"roots"`) != 1 {
			w.Errorf("%d of 2 answers have come", len(w.requests("POST")))
		}
		for _, x := range w.requests("POST") {
			if x.At != from {
				w.Errorf("%s came after %v", x.Body, x.At-from)
			}
		}
	})
}

// A server that is slow to accept answers gets at most bounds.AnswersPosted at once; the others wait, except those to
// pings, which are dropped and counted. Finding B6.
func TestAnswersAreBounded(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"": func(x *exchangeSeen) {
		elapse(10 * time.Second)
		x.accepted()
	}}, func(w *webWorld) {
		var log bytes.Buffer
		w.s.log = slog.New(slog.NewTextHandler(&log, nil))
		w.legacy("2025-11-25")
		for i := range 2 * bounds.AnswersPosted {
			w.s.Send(rootsAnswer(i))
			w.s.Send(pong(1000 + i))
		}
		synctest.Wait()
		if n := len(w.requests("POST")); n != bounds.AnswersPosted {
			w.Errorf("%d answers are on their way", n)
		}
		elapse(time.Hour)
		synctest.Wait()
		if n := w.answersSeen(`"roots"`); n != 2*bounds.AnswersPosted {
			w.Errorf("%d answers came", n)
		}
		sent := w.answersSeen(`"result":{}`)
		w.s.mu.Lock()
		dropped := w.s.st.pings
		w.s.mu.Unlock()
		if sent+dropped != 2*bounds.AnswersPosted || dropped < bounds.AnswersPosted {
			w.Errorf("%d pings were answered, %d counted as dropped", sent, dropped)
		}
		if !strings.Contains(log.String(), "pings are not answered") {
			w.Errorf("the log says %s", log.String())
		}
		w.s.work.Wait()
	})
}
