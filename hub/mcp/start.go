package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

const (
	methodDiscover    = "server/discover"
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"

	// codeUnsupportedVersion is UnsupportedProtocolVersion of 2026-07-28 ("Error Codes").
	codeUnsupportedVersion = -32022
)

var (
	errProbeTimeout = errors.New("no answer to server/discover within the probe's time")
	errRespawn      = errors.New("the server ended on the probe and is started anew")
)

// Connect opens a link and brings a session up on it. ctx bounds the start alone: when it ends, the link is closed, and nothing is
// cancelled on the wire, because neither initialize nor server/discover may be. Errors are *StartError.
func Connect(ctx context.Context, o Options) (*Session, error) {
	if o.Open == nil || o.Handler == nil {
		return nil, &ArgumentsError{Text: "Options.Open and Options.Handler are required"}
	}
	switch o.Era {
	case "", EraAuto, EraLegacy, EraModern:
	default:
		return nil, &ArgumentsError{Text: fmt.Sprintf("era %q is none of auto, legacy, modern", printable(o.Era))}
	}
	if o.ProbeTimeout <= 0 {
		o.ProbeTimeout = DefaultProbeTimeout
	}
	if o.MaxRounds <= 0 {
		o.MaxRounds = DefaultMaxRounds
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.endOver(closedError(err))
		return nil, err
	}
	n := s.state.Load()
	s.log.Info("mcp session is up", "era", n.era.String(), "revision", n.revision)
	if n.era == Modern && n.info.ToolsListChanged {
		s.listen.start(s)
	}
	go s.run()
	return s, nil
}

func (s *Session) start(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	offer, probed := Revision20251125, false
	var found finding
	if s.o.Era == EraModern || s.o.Era != EraLegacy && s.o.Remembered != Legacy {
		probed = true
		found = s.probe(ctx, s.o.Era != EraModern && s.o.Remembered != Modern)
		switch {
		case found.modern:
			return nil
		case s.o.Era == EraModern || found.fatal:
			return s.abandon(methodDiscover, found.err)
		case found.ended:
			// Some servers exit on a first message that they do not know.
			if err := s.reopen(ctx); err != nil {
				return err
			}
			probed = false
		}
		if found.offer != "" {
			offer = found.offer
		}
	}
	err := s.initialize(ctx, offer)
	if err != nil && probed && ctx.Err() == nil && errors.Is(err, jsonrpc.ErrClosed) {
		// The same, a moment later: the probe was answered with an error, or not at all, before the exit.
		if err := s.reopen(ctx); err != nil {
			return err
		}
		err = s.initialize(ctx, offer)
	}
	if refusal := (*jsonrpc.Error)(nil); found.silent && errors.As(err, &refusal) {
		// A modern server that was still starting when the probe's time ran out: it is awake now, and has refused initialize.
		if s.probe(ctx, false).modern {
			return nil
		}
	}
	if err != nil {
		return s.abandon(methodInitialize, err)
	}
	return nil
}

func (s *Session) open(ctx context.Context) error {
	l, err := s.o.Open(ctx)
	if err != nil {
		return &StartError{Server: s.o.Server, Stage: "open", Err: err}
	}
	s.attach(l)
	return nil
}

// reopen replaces a link that ended on the probe.
func (s *Session) reopen(ctx context.Context) error {
	s.log.Info("mcp server ended on the era probe; starting it anew without")
	_ = s.peer.Close(errRespawn) // it has ended already
	s.state.Store(&negotiated{})
	return s.open(ctx)
}

// abandon closes the link of a start that failed. The link's end comes before its last words are asked for.
func (s *Session) abandon(stage string, err error) error {
	var cancelled *jsonrpc.CancelledError
	if errors.As(err, &cancelled) && cancelled.Cause != nil {
		err = cancelled.Cause
	}
	if closeErr := s.peer.Close(err); closeErr != nil {
		s.log.Debug("closing the link failed", "error", closeErr)
	}
	return &StartError{Server: s.o.Server, Stage: stage, Err: err, Ended: s.endedText()}
}

// finding is what a probe has brought to light. With neither modern, ended nor fatal the server is taken for a legacy one.
type finding struct {
	modern bool   // server/discover was answered; the state is set
	ended  bool   // the link ended on the probe
	fatal  bool   // nothing more can be tried
	silent bool   // no answer in time
	offer  string // the revision to offer to initialize, "" for the newest
	err    error  // why it is not modern
}

// probe asks server/discover. 2026-07-28 basic/transports/stdio, "Backward Compatibility": a result means modern, a recognised modern error a
// second try, and any other error, whatever its code, or silence means legacy.
func (s *Session) probe(ctx context.Context, limited bool) finding {
	pctx := ctx
	if limited {
		var stop context.CancelFunc
		pctx, stop = context.WithTimeoutCause(ctx, s.o.ProbeTimeout, errProbeTimeout)
		defer stop()
	}
	for again := true; ; again = false {
		raw, err := s.peer.Call(pctx, methodDiscover, s.discoverParams())
		var refusal *jsonrpc.Error
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
		case errors.Is(err, jsonrpc.ErrClosed):
			return finding{ended: true, err: err}
		default:
			return finding{silent: context.Cause(pctx) == errProbeTimeout, err: err}
		}
	}
}

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

// initialize opens a legacy session (basic/lifecycle of 2024-11-05 to 2025-11-25).
func (s *Session) initialize(ctx context.Context, offer string) error {
	capabilities := s.capabilities()
	// A server may ask its first question right behind its answer, so what it may use is set before that.
	s.state.Store(&negotiated{era: Legacy, declared: capabilities.at(offer)})
	params := newObject(256)
	params.text("protocolVersion", offer)
	params.name("capabilities")
	params.b = capabilities.appendTo(params.b, offer)
	params.raw("clientInfo", s.clientInfo)
	raw, err := s.peer.Call(ctx, methodInitialize, params.end())
	if err != nil {
		return err
	}
	var answer struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return &ProtocolError{Text: "the answer to initialize has no protocolVersion that is a string"}
	}
	if bestMutual(legacyRevisions, []string{answer.ProtocolVersion}) == "" {
		return &ProtocolError{Text: fmt.Sprintf("the server answered initialize with protocol version %q; this client offered %s and speaks %s there",
			printable(answer.ProtocolVersion), offer, strings.Join(legacyRevisions, ", "))}
	}
	s.state.Store(&negotiated{
		era:      Legacy,
		revision: answer.ProtocolVersion,
		declared: capabilities.at(min(offer, answer.ProtocolVersion)),
		info:     readInfo(raw, member(raw, "serverInfo")),
	})
	return s.peer.Notify(methodInitialized, nil)
}

// versions reads an array of strings and skips what is none.
func versions(raw json.RawMessage) []string {
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// readInfo reads what InitializeResult and DiscoverResult have in common. Members of the wrong type count as absent: nothing
// that a server says of itself is worth a failed start.
func readInfo(raw, implementation json.RawMessage) ServerInfo {
	info := ServerInfo{
		Name:         stringOf(member(implementation, "name")),
		Title:        stringOf(member(implementation, "title")),
		Version:      stringOf(member(implementation, "version")),
		Instructions: stringOf(member(raw, "instructions")),
		Capabilities: append(json.RawMessage(nil), member(raw, "capabilities")...),
	}
	tools := member(info.Capabilities, "tools")
	info.HasTools = tools != nil && !isNull(tools)
	info.ToolsListChanged = string(member(tools, "listChanged")) == "true"
	logging := member(info.Capabilities, "logging")
	info.Logging = logging != nil && !isNull(logging)
	return info
}
