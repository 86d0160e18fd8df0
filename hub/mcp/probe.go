package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The errors by which a server shows that it is modern (2026-07-28 basic/index "Error Codes").
const (
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

var errProbeTimeout = errors.New("no answer to server/discover within the probe's time")

// finding is what a probe has brought to light. With neither modern, ended nor fatal the server is taken for a legacy one.
type finding struct {
	modern bool   // server/discover was answered; the state is set
	ended  bool   // the link ended on the probe
	fatal  bool   // nothing more can be tried
	silent bool   // no answer in time
	offer  string // the revision to offer to initialize, "" for the newest
	err    error  // why it is not modern
}

// probe asks server/discover. 2026-07-28 basic/transports/stdio and streamable-http, "Backward Compatibility": a result means modern, a recognised modern
// error a second try or the end, and any other error, whatever its code or status, or silence means legacy. Over HTTP some failures say nothing of
// the era: they end the start.
func (s *Session) probe(ctx context.Context, limited bool) finding {
	pctx := ctx
	if limited {
		var stop func()
		pctx, stop = s.within(ctx, errProbeTimeout)
		defer stop()
	}
	s.speak(Modern, Revision20260728)
	for again := true; ; again = false {
		raw, err := s.peer.CallAs(pctx, methodDiscover, s.discoverParams(), jsonrpc.How{Tag: s.o.Trace})
		var refusal *jsonrpc.Error
		var failed *transport.HTTPError
		switch {
		case err == nil:
			return s.discovered(raw)
		case ctx.Err() != nil:
			return finding{fatal: true, err: context.Cause(ctx)}
		case errors.As(err, &refusal) && refusal.Code == codeUnsupportedVersion:
			supported := versions(member(refusal.Data, "supported"))
			if again && bestMutual(modernRevisions, supported) != "" {
				continue
			}
			// A server can be modern in its errors and still list legacy revisions alone: then initialize is the way.
			return s.notModern(supported, err)
		case errors.As(err, &refusal) && (refusal.Code == codeHeaderMismatch || refusal.Code == codeMissingCapability):
			// It knows the question and refuses it. Whatever is wrong, initialize does not mend it.
			return finding{fatal: true, err: err}
		case errors.Is(err, jsonrpc.ErrClosed):
			return finding{ended: true, err: err}
		case errors.As(err, &failed) && saysNothingOfEra(failed):
			return finding{fatal: true, err: err}
		default:
			return finding{silent: context.Cause(pctx) == errProbeTimeout, err: err}
		}
	}
}

// saysNothingOfEra: nobody was reached, the caller has no right or must wait. The same would come of initialize.
func saysNothingOfEra(e *transport.HTTPError) bool {
	switch e.Status {
	case 0:
		return e.Delivery == transport.NotSent
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
}

// unknownTransport tells whether a start failed as it does at a server that only knows HTTP+SSE: the POST of initialize is refused with 400, 404 or 405
// (2025-03-26 and 2025-06-18: with any 4xx) and no modern error in it. What is JSON-RPC in the body comes without its status, so any other error than
// a modern one counts.
func unknownTransport(e *StartError) bool {
	var failed *transport.HTTPError
	refusal := rpcError(e.Err)
	switch {
	case e.Stage != methodInitialize:
		return false
	case refusal != nil:
		return refusal.Code > codeHeaderMismatch || refusal.Code < codeUnsupportedVersion
	case errors.As(e.Err, &failed):
		return failed.Status >= 400 && failed.Status < 500 && !saysNothingOfEra(failed)
	}
	return false
}

// bothFailedError is a start that failed over one transport and over the one to fall back on.
type bothFailedError struct{ first, second error }

func (e *bothFailedError) Error() string {
	return inWords(e.first) + "; over HTTP+SSE: " + inWords(e.second)
}

func (e *bothFailedError) Unwrap() []error { return []error{e.first, e.second} }

// discovered reads a DiscoverResult. What is none is taken for the answer of a legacy server that answers anything.
func (s *Session) discovered(raw json.RawMessage) finding {
	supported := versions(member(raw, "supportedVersions"))
	if bestMutual(modernRevisions, supported) == "" {
		return s.notModern(supported, &ProtocolError{Text: "the answer to server/discover lists no modern revision that this client speaks"})
	}
	info := readInfo(raw, member(member(raw, "_meta"), metaServerInfo))
	s.state.Store(&negotiated{era: Modern, revision: bestMutual(modernRevisions, supported), info: info})
	return finding{modern: true}
}

func (s *Session) notModern(supported []string, err error) finding {
	if offer := bestMutual(legacyRevisions, supported); offer != "" || len(supported) == 0 || bestMutual(modernRevisions, supported) != "" {
		return finding{offer: offer, err: err}
	}
	return finding{fatal: true, err: &ProtocolError{Text: fmt.Sprintf("the server speaks %s, this client %s",
		printable(strings.Join(supported, ", ")), strings.Join(slices.Concat(legacyRevisions, modernRevisions), ", "))}}
}

func (s *Session) discoverParams() json.RawMessage {
	meta := newObject(256)
	s.appendModernMeta(meta, s.capabilities().at(Revision20260728), "")
	params := newObject(256)
	params.raw("_meta", meta.end())
	return params.end()
}

// versions reads an array of strings and skips what is none.
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
