package clients

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// rule is what holds for one check: sections of the specification for the eras, what they say, what to do about a
// fault, and how to exercise it.
type rule struct{ legacy, modern, says, do, try string }

const (
	cancellation = "2025-11-25 basic/utilities/cancellation"
	patterns     = "2026-07-28 basic/patterns/cancellation"
	shutdown     = "2025-11-25 basic/lifecycle, shutdown, stdio"
	callSlow     = "call the tool slow and cancel it while it runs"
)

// rules by the names of the checks, in their order.
var rules = map[string]rule{
	"cancel.sent": {cancellation, patterns,
		"who gives up a request says so: by a notification, or since 2026-07-28 over HTTP by closing its stream",
		"send notifications/cancelled with the id of the request when the user or a time limit ends the wait: the server " +
			"works on otherwise", callSlow},
	"cancel.once": {cancellation, patterns, "a cancel names a request that is believed to be in progress",
		"forget the request with its first cancel", callSlow},
	"cancel.id": {cancellation, patterns,
		"a cancel names a request that was sent before in the same direction, by its very id",
		"keep the id as it was sent, a number as a number, and name no other", callSlow},
	"cancel.order": {cancellation, patterns, "a cancel follows its request, and names none that is over",
		"hold a cancel back until its request is written, and drop it when the answer is there", callSlow},
	"cancel.reason": {cancellation, patterns, "a cancel may say why, for logs and people",
		"say in reason who ended the request, and why", callSlow},
	"cancel.initialize": {cancellation, patterns, "initialize must not be cancelled",
		"end the connection instead", ""},
	"cancel.late": {cancellation, patterns, "an answer that comes after the cancel should be ignored",
		"drop answers to what is not open any more: they are no fault of the protocol, and servers send them", callSlow},
	"question.answered": {"2025-11-25 client/elicitation, sampling, roots", "2026-07-28 basic/patterns/mrtr",
		"a declared capability is served", "", "call the tool ask, and answer its question"},
	"question.withdrawn": {cancellation, "", "what was cancelled should not be answered",
		"close the question with its cancel, and send nothing for it: an answer that nobody reads misleads the user",
		"call the tool ask_then_withdraw, and do not answer its question"},
	"end.stdin": {shutdown, "2026-07-28 basic/transports/stdio",
		"the client ends a server by closing its input",
		"close the server's stdin first: it is the only end that a server can prepare for on every system", "end the client"},
	"end.signal": {shutdown, "2026-07-28 basic/transports/stdio",
		"SIGTERM follows if the server does not exit within a reasonable time, and SIGKILL after that",
		"wait some seconds after stdin was closed, then send SIGTERM, then SIGKILL: servers that hang are left over otherwise",
		"end the client"},
	"end.delete": {"2025-11-25 basic/transports, session management", "",
		"a client that needs a session no more should end it with DELETE", "send DELETE with the session's id at the end",
		"end the client"},
}

// Judge returns what the events say of the client, for each transport and era that it used, in the order of the checks.
// It is pure.
func Judge(events []Event) []doctor.Finding {
	var found []doctor.Finding
	all := connections(events)
	for _, s := range all {
		if s.probes() && slices.ContainsFunc(all, func(other *connection) bool { return !other.probes() }) {
			continue
		}
		for _, f := range s.findings() {
			i := slices.IndexFunc(found, func(other doctor.Finding) bool {
				return other.Check == f.Check && other.Transport == f.Transport && other.Era == f.Era
			})
			switch {
			case i < 0:
				found = append(found, f)
			case f.Level.Outweighs(found[i].Level):
				found[i] = f
			}
		}
	}
	return found
}

// connections returns the connections on which the client spoke.
func connections(events []Event) (all []*connection) {
	for _, e := range events {
		if e.Kind == Over {
			for _, s := range all {
				s.overAt, s.broken = e.At, e.Interrupted
			}
			continue
		}
		for len(all) < e.Conn {
			all = append(all, newConnection())
		}
		all[e.Conn-1].apply(e)
	}
	return slices.DeleteFunc(all, func(s *connection) bool { return s.era == "" })
}

// verdict is the outcome of one check.
type verdict struct {
	level doctor.Level
	seen  string
}

func good(format string, args ...any) verdict {
	return verdict{doctor.Good, fmt.Sprintf(format, args...)}
}
func note(format string, args ...any) verdict {
	return verdict{doctor.Note, fmt.Sprintf(format, args...)}
}
func mend(format string, args ...any) verdict {
	return verdict{doctor.Mend, fmt.Sprintf(format, args...)}
}
func improve(format string, args ...any) verdict {
	return verdict{doctor.Improve, fmt.Sprintf(format, args...)}
}
func unseen(format string, args ...any) verdict {
	return verdict{doctor.Unseen, fmt.Sprintf(format, args...)}
}

// findings judges one connection. A check that does not apply to it, or that only finds faults, returns nothing.
func (s *connection) findings() (found []doctor.Finding) {
	for _, c := range []struct {
		name  string
		judge func(*connection) verdict
	}{
		{"cancel.sent", (*connection).sent}, {"cancel.once", (*connection).once}, {"cancel.id", (*connection).id},
		{"cancel.order", (*connection).order}, {"cancel.reason", (*connection).reason},
		{"cancel.initialize", (*connection).initialize}, {"cancel.late", (*connection).lateAnswer},
		{"question.answered", (*connection).answered}, {"question.withdrawn", (*connection).withdrawn},
		{"end.stdin", (*connection).stdin}, {"end.signal", (*connection).signal}, {"end.delete", (*connection).delete},
	} {
		v := c.judge(s)
		if v.level == "" {
			continue
		}
		r := rules[c.name]
		f := doctor.Finding{Check: c.name, Level: v.level, Seen: v.seen, Spec: r.legacy, Says: r.says,
			Transport: s.transport, Era: s.era}
		if s.era == mcp.EraModern {
			f.Spec = r.modern
		}
		switch v.level {
		case doctor.Mend, doctor.Improve:
			f.Do = r.do
		case doctor.Unseen:
			f.Do = r.try
		}
		found = append(found, f)
	}
	return found
}

// closes reports whether the client cancels by closing streams.
func (s *connection) closes() bool { return s.transport == doctor.HTTP && s.era == mcp.EraModern }

func (s *connection) sent() verdict {
	calls := s.those(func(r *request) bool { return r.tool != "" && len(r.cancelled) > 0 })
	closed := s.those(func(r *request) bool { return r.tool != "" && s.gaveUp(r) })
	left := s.those(func(r *request) bool { return r.tool != "" && r.open() })
	moved := slices.IndexFunc(left, func(r *request) bool { return r.movedOn })
	mute := slices.IndexFunc(closed, func(r *request) bool { return len(r.cancelled) == 0 })
	switch {
	case s.closes() && len(closed) > 0 && len(calls) > 0:
		return note("%s cancelled by closing the stream; a notification came besides, which is not needed",
			count(len(closed), "call was", "calls were"))
	case s.closes() && len(closed) > 0:
		return good("%s cancelled by closing the stream", count(len(closed), "call was", "calls were"))
	case s.closes() && len(calls) > 0:
		return mend("a cancel came as a notification, and the call's stream stayed open: over HTTP a server need not read it")
	case mute >= 0:
		return mend("the stream of the call of %s was closed, and no cancel came: in this revision that is no cancel",
			closed[mute].tool)
	case moved >= 0 && len(left) > len(s.unknown):
		return mend("the call of %s was given up without a cancel: other calls came after it, and it was open at the end",
			left[moved].tool)
	case len(calls) > 0:
		return good("%s cancelled by notification", count(len(calls), "call was", "calls were"))
	case len(s.unknown) > 0:
		return verdict{} // cancel.id or cancel.order says what became of it
	case len(left) > 0:
		return unseen("the call of %s was open at the end, and no cancel came: if somebody cancelled it, it was not sent",
			left[0].tool)
	}
	return unseen("no call was cancelled")
}

// gaveUp reports whether the client closed the stream of a request that it waited for, and not just ended.
func (s *connection) gaveUp(r *request) bool {
	return !r.closed.IsZero() && (s.overAt.IsZero() || s.overAt.Sub(r.closed) > crossing)
}

func (s *connection) once() verdict {
	twice := s.those(func(r *request) bool { return len(r.cancelled) > 1 })
	switch {
	case len(twice) > 0:
		return mend("the request %s was cancelled %d times, the last %s after the first", bounds.Printable(twice[0].id),
			len(twice[0].cancelled), span(twice[0].cancelled[len(twice[0].cancelled)-1].Sub(twice[0].cancelled[0])))
	case s.named > 0:
		return good("each cancel came once")
	case s.closes():
		return verdict{}
	}
	return unseen("no request was cancelled")
}

func (s *connection) id() verdict {
	early := len(s.those(func(r *request) bool { return r.early })) > 0
	if len(s.unknown) == 0 {
		switch {
		case s.named > 0:
			return good("each cancel named its request")
		case s.closes(), early: // cancel.order says what became of it
			return verdict{}
		}
		return unseen("no request was cancelled")
	}
	c := s.unknown[0]
	switch {
	case c.id == "" || c.id == "null":
		return mend("a cancel named no request at all")
	case s.retyped(c):
		return mend("a cancel named %s, and the request has the other type: 1 and \"1\" are different ids",
			bounds.Printable(c.id))
	}
	return mend("a cancel named %s, and there never was a request with this id", bounds.Printable(c.id))
}

const (
	// crossing is the time in which a cancel and an answer may cross.
	crossing = time.Second
	// crossings is how many of them are no coincidence any more.
	crossings = 3
)

func (s *connection) order() verdict {
	var after, long int
	for _, r := range s.requests {
		switch {
		case r.early && s.transport == doctor.HTTP:
			return improve("a cancel came before its request %s: the two POSTs overtook one another",
				bounds.Printable(r.id))
		case r.early:
			return mend("a cancel came before its request %s", bounds.Printable(r.id))
		case !r.after.IsZero():
			if after++; r.after.Sub(r.answered) > crossing {
				long++
			}
		}
	}
	switch {
	case long > 0 || after >= crossings:
		return mend("%s cancelled after the answer", count(after, "request was", "requests were"))
	case after > 0:
		return note("a cancel came within %v after the answer: they may have crossed", crossing)
	case s.named > 0:
		return good("each cancel came between its request and the answer")
	case s.closes(), len(s.unknown) > 0:
		return verdict{}
	}
	return unseen("no request was cancelled")
}

func (s *connection) reason() verdict {
	empty := 0
	for _, r := range s.reasons {
		if r == "" {
			empty++
		}
	}
	switch {
	case s.closes():
		return verdict{}
	case len(s.reasons) == 0:
		return unseen("no request was cancelled")
	case empty > 0:
		return improve("%d of %s came without a reason", empty, count(len(s.reasons), "cancel", "cancels"))
	}
	return good("the reason is %q", s.reasons[0])
}

func (s *connection) initialize() verdict {
	for _, r := range s.requests {
		if (r.method == protocol.MethodInitialize || r.method == protocol.MethodDiscover) &&
			(len(r.cancelled) > 0 || !r.after.IsZero()) {
			return mend("%s was cancelled", r.method)
		}
	}
	return verdict{}
}

// lateAnswer judges what became of the connection after the answer to a call that was cancelled.
func (s *connection) lateAnswer() verdict {
	late := s.those(func(r *request) bool { return r.late })
	closed := s.those(func(r *request) bool { return s.gaveUp(r) && (s.closes() || len(r.cancelled) > 0) })
	survived := 0
	for _, r := range late {
		if !r.next.IsZero() {
			survived++
			continue
		}
		if end := s.endOf(r.answered); s.era == mcp.EraLegacy && s.transport == doctor.Stdio && !s.broken && end != "" {
			return mend("after the answer to a call that was cancelled, nothing came any more, not even the answer to a "+
				"ping: %s", end)
		}
	}
	switch {
	case survived > 0:
		return good("%s to a call that was cancelled did no harm", count(survived, "answer", "answers"))
	case len(late) > 0:
		return unseen("after the answer to a call that was cancelled, the client sent nothing any more")
	case len(closed) > 0 && s.transport == doctor.HTTP:
		return good("the client closed the stream of the call that it cancelled: nothing late can come")
	}
	return unseen("no call was answered after its cancel: none was cancelled, or the connection ended within %v",
		lateAfter)
}

// endOf says how the connection ended if that may be because of a late answer: at once, or after a long silence. A
// client that ends a little later may have meant to.
func (s *connection) endOf(answered time.Time) string {
	if s.ended == nil {
		if s.cut || !s.overAt.IsZero() && s.overAt.Sub(answered) > listens {
			return "it hung"
		}
		return ""
	}
	if after := s.ended.At.Sub(answered); after < atOnce || after > listens {
		return fmt.Sprintf("the connection ended %s later", span(after))
	}
	return ""
}

func (s *connection) answered() verdict {
	switch {
	case len(s.asks) == 0:
		return note("it declares neither elicitation nor sampling nor roots, so it was asked nothing")
	case s.replies > 0:
		return good("%s answered", count(s.replies, "question was", "questions were"))
	}
	return unseen("no question was answered; it declares %s", strings.Join(s.asks, ", "))
}

func (s *connection) withdrawn() verdict {
	if s.era == mcp.EraModern || len(s.asks) == 0 {
		return verdict{}
	}
	silent, refused := 0, 0
	for _, q := range s.questions {
		switch {
		case q.withdrawn.IsZero() || q.method == protocol.MethodPing || !q.replied.IsZero() && q.replied.Before(q.withdrawn):
		case q.replied.IsZero():
			silent++
		case !q.failed:
			return mend("a question was answered %s after it was withdrawn", span(q.replied.Sub(q.withdrawn)))
		default:
			refused++
		}
	}
	switch {
	case refused > 0:
		return improve("%s answered with an error after the withdrawal", count(refused, "question was", "questions were"))
	case silent > 0 && s.replies == 0:
		return unseen("a question was withdrawn and not answered, but the client has answered no other question either")
	case silent > 0:
		return good("%s withdrawn and not answered; whether it has gone from the screen only you can see",
			count(silent, "question was", "questions were"))
	}
	return unseen("no question was withdrawn")
}

// atOnce is too short for a server to end by itself, and for an end that has another reason than what came before it.
const atOnce = 200 * time.Millisecond

func (s *connection) stdin() verdict {
	switch {
	case s.transport != doctor.Stdio:
		return verdict{}
	case s.cut && !s.broken:
		return mend("the client's program ended, and the connection of its server stayed open")
	case s.ended == nil || s.broken && s.ended.Kind != InputEnded && s.overAt.Sub(s.ended.At) < crossing:
		return unseen("the connection was open when the play ended")
	case s.ended.Kind == InputEnded:
		return good("it closed the server's input")
	case s.ended.Kind == Signalled:
		return improve("it sent %s, with the server's input still open", s.ended.Name)
	}
	return mend("it killed the server, with its input still open")
}

func (s *connection) signal() verdict {
	if s.transport != doctor.Stdio || s.cut || s.ended == nil || s.ended.Kind != InputEnded {
		return verdict{}
	}
	if s.escalated == nil {
		if s.broken && s.overAt.Sub(s.ended.At) < linger {
			return unseen("the play ended before the server's time was over")
		}
		return mend("the server stayed for %v after its input had ended, and no signal came", linger)
	}
	after := s.escalated.At.Sub(s.ended.At)
	switch {
	case after < atOnce:
		return improve("the signal came %s after the end of the input: no server ends so fast", span(after))
	case s.escalated.Kind == Lost:
		return improve("it killed the server %s after the end of the input, without SIGTERM before", span(after))
	}
	return good("%s came %s after the end of the input", s.escalated.Name, span(after))
}

func (s *connection) delete() verdict {
	switch {
	case s.transport != doctor.HTTP || s.era != mcp.EraLegacy:
		return verdict{}
	case s.deleted:
		return good("it ended the session with DELETE")
	case s.overAt.IsZero() || s.broken:
		return unseen("the session was open when the play ended")
	}
	return improve("it ended without ending the session")
}

// count returns a number with the noun, and what follows, that fits it.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// span returns a duration as readable text.
func span(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
