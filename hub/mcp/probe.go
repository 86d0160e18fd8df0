package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

var errProbeTimeout = errors.New("no answer to server/discover within the probe's time")

// finding is the result of a probe. If none of modern, ended and fatal is set, the server is assumed to be legacy.
type finding struct {
	modern bool // server/discover was answered; the state is set
	ended  bool // the link ended on the probe
	fatal  bool // nothing more can be tried
	// The server/discover that was not answered in time. It is still open, and a late answer to it counts.
	silent *jsonrpc.Call
	offer  string // the revision to offer to initialize, "" for the newest
	err    error  // why it is not modern
}

// probe sends server/discover. 2026-07-28 basic/transports/stdio and streamable-http, "Backward Compatibility": a
// result means modern, a recognised modern error means a second try or the end, and any other error, whatever its code
// or status, or no answer means legacy. Over HTTP some failures say nothing about the era: they end the start.
func (s *Session) probe(ctx context.Context, limited bool) finding {
	pctx := ctx
	if limited {
		var stop func()
		pctx, stop = s.within(ctx, errProbeTimeout)
		defer stop()
	}
	s.speak(Modern, Revision20260728)
	for again := true; ; again = false {
		call, err := s.peer.BeginAs(protocol.MethodDiscover, s.discoverParams(), jsonrpc.How{Tag: s.o.Trace})
		var raw json.RawMessage
		if err == nil {
			select {
			case <-call.Done():
			case <-pctx.Done():
			}
			if ctx.Err() == nil && pctx.Err() != nil && !isOver(call) {
				return finding{silent: call, err: errProbeTimeout}
			}
			raw, err = call.Wait(ctx)
		}
		var refusal *jsonrpc.Error
		var failed *transport.HTTPError
		switch {
		case err == nil:
			return s.discovered(raw)
		case ctx.Err() != nil:
			return finding{fatal: true, err: context.Cause(ctx)}
		case errors.As(err, &refusal) && refusal.Code == protocol.CodeUnsupportedVersion:
			supported := versions(member(refusal.Data, "supported"))
			if again && bestMutual(modernRevisions, supported) != "" {
				continue
			}
			// The server may send modern errors and still list only legacy revisions: then initialize is the way.
			return s.notModern(supported, err)
		case errors.As(err, &refusal) && (refusal.Code == protocol.CodeHeaderMismatch ||
			refusal.Code == protocol.CodeMissingCapability):
			// The server knows the method and refuses it. Whatever the reason, initialize would not help.
			return finding{fatal: true, err: err}
		case errors.Is(err, jsonrpc.ErrClosed):
			return finding{ended: true, err: err}
		case errors.As(err, &failed) && saysNothingOfEra(failed):
			return finding{fatal: true, err: err}
		default:
			return finding{err: err}
		}
	}
}

func isOver(c *jsonrpc.Call) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// errModernAfterAll ends an initialize that was sent while server/discover was still open, when that is answered.
var errModernAfterAll = errors.New("the server has answered server/discover after all")

// initializeBeside opens a legacy session while server/discover is still open: the server may be slow, like npx, which
// installs it first. The first of the two that succeeds decides. If initialize is refused, the answer to
// server/discover still decides.
func (s *Session) initializeBeside(ctx context.Context, offer string, probe *jsonrpc.Call) (modern bool, err error) {
	ictx, end := context.WithCancelCause(ctx)
	defer end(errStartStep)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-probe.Done():
			if isModern(probe) {
				end(errModernAfterAll)
			}
		case <-ictx.Done():
		}
	})
	err = s.initialize(ictx, offer)
	end(errStartStep)
	watching.Wait()
	if err == nil || ctx.Err() != nil || errors.Is(err, jsonrpc.ErrClosed) {
		_, _ = giveUpOn(probe, errStartStep) // server/discover is never cancelled: this only releases what is held for it
		return false, err
	}
	if isModern(probe) {
		return s.lateModern(probe), err
	}
	if !answersInitialize(err) {
		_, _ = giveUpOn(probe, errStartStep)
		return false, err
	}
	return s.awaitModern(ctx, probe), err
}

// awaitModern waits for the answer to server/discover from a server that has refused initialize. It sends
// server/discover once more, because the first may have been lost while the server was starting.
func (s *Session) awaitModern(ctx context.Context, probe *jsonrpc.Call) bool {
	wait := ctx
	if s.link.Fallback != nil { // the other transport is to be tried as well
		limited, stop := context.WithTimeoutCause(ctx, 6*s.o.ProbeTimeout, errProbeTimeout)
		defer stop()
		wait = limited
	}
	s.speak(Modern, Revision20260728)
	again, err := s.peer.BeginAs(protocol.MethodDiscover, s.discoverParams(), jsonrpc.How{Tag: s.o.Trace})
	if err != nil {
		return false
	}
	open := []*jsonrpc.Call{probe, again}
	defer func() {
		for _, c := range open {
			if c != nil {
				_, _ = giveUpOn(c, errStartStep)
			}
		}
	}()
	for range open { // each iteration ends one of them
		select {
		case <-over(open[0]):
			if isModern(open[0]) {
				return s.lateModern(open[0])
			}
			open[0] = nil
		case <-over(open[1]):
			if isModern(open[1]) {
				return s.lateModern(open[1])
			}
			open[1] = nil
		case <-wait.Done():
			return false
		}
	}
	return false
}

// lateModern processes a late answer to server/discover.
func (s *Session) lateModern(probe *jsonrpc.Call) bool {
	raw, err := probe.Wait(context.Background())
	s.speak(Modern, Revision20260728)
	return err == nil && s.discovered(raw).modern
}

// answersInitialize reports whether the server may still be modern after initialize has failed with err: initialize was
// refused, or was cancelled because server/discover was answered.
func answersInitialize(err error) bool {
	var failed *transport.HTTPError
	switch {
	case rpcError(err) != nil:
		return true
	case errors.As(err, &failed):
		return failed.Status >= 400 && failed.Status < 500 && !saysNothingOfEra(failed)
	}
	return errors.As(err, new(*jsonrpc.CancelledError))
}

// isModern reports whether server/discover is over and was answered as by a modern server.
func isModern(probe *jsonrpc.Call) bool {
	if !isOver(probe) {
		return false
	}
	raw, err := probe.Wait(context.Background())
	return err == nil && bestMutual(modernRevisions, versions(member(raw, "supportedVersions"))) != ""
}

// saysNothingOfEra reports whether the server was not reached, or the caller has no right or must wait. initialize
// would fail in the same way.
func saysNothingOfEra(e *transport.HTTPError) bool {
	switch e.Status {
	case 0:
		return e.Delivery == transport.NotSent
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
}

// unknownTransport reports whether a start failed as it does with a server that only knows HTTP+SSE: the POST of
// initialize is refused with 400, 404 or 405 (2025-03-26 and 2025-06-18: with any 4xx) and no modern error in the body.
// A JSON-RPC error in the body comes without its status, so any error except a modern one counts.
func unknownTransport(e *StartError) bool {
	var failed *transport.HTTPError
	refusal := rpcError(e.Err)
	switch {
	case e.Stage != protocol.MethodInitialize:
		return false
	case refusal != nil:
		return refusal.Code > protocol.CodeHeaderMismatch || refusal.Code < protocol.CodeUnsupportedVersion
	case errors.As(e.Err, &failed):
		return failed.Status >= 400 && failed.Status < 500 && !saysNothingOfEra(failed)
	}
	return false
}

// bothFailedError is the error of a start that failed over one transport and over its fallback.
type bothFailedError struct{ first, second error }

func (e *bothFailedError) Error() string {
	return inWords(e.first) + "; over HTTP+SSE: " + inWords(e.second)
}

func (e *bothFailedError) Unwrap() []error { return []error{e.first, e.second} }

// discovered parses a DiscoverResult. Any other result is assumed to come from a legacy server that answers anything.
func (s *Session) discovered(raw json.RawMessage) finding {
	supported := versions(member(raw, "supportedVersions"))
	if bestMutual(modernRevisions, supported) == "" {
		return s.notModern(supported,
			&ProtocolError{Text: "the answer to server/discover lists no modern revision that this client speaks"})
	}
	info := readInfo(raw, member(member(raw, "_meta"), protocol.MetaServerInfo))
	s.state.Store(&negotiated{era: Modern, revision: bestMutual(modernRevisions, supported), info: info})
	return finding{modern: true}
}

func (s *Session) notModern(supported []string, err error) finding {
	if offer := bestMutual(legacyRevisions, supported); offer != "" || len(supported) == 0 ||
		bestMutual(modernRevisions, supported) != "" {
		return finding{offer: offer, err: err}
	}
	return finding{fatal: true, err: &ProtocolError{Text: fmt.Sprintf("the server speaks %s, this client %s",
		bounds.Printable(strings.Join(supported, ", ")), strings.Join(slices.Concat(legacyRevisions, modernRevisions),
			", "))}}
}

func (s *Session) discoverParams() json.RawMessage {
	meta := newObject(256)
	s.appendModernMeta(meta, s.capabilities().at(Revision20260728), "")
	params := newObject(256)
	params.raw("_meta", meta.end())
	return params.end()
}

// versions parses an array of strings and skips other elements.
func versions(raw json.RawMessage) []string {
	var out []string
	list, _ := elements(raw)
	for _, v := range list {
		if jsontext.IsString(v) {
			out = append(out, stringOf(v))
		}
	}
	return out
}
