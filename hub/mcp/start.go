package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

const (

	// signInPoll is the longest interval at which a step of the start checks whether a user is still signing in.
	signInPoll = 250 * time.Millisecond
)

var (
	errRespawn    = errors.New("the server ended on the probe and is started anew")
	errNoFallback = errors.New("no answer over the older transport within the probe's time")
	errStartStep  = errors.New("this step of the start is over")
)

// Connect opens a link and starts a session on it. ctx bounds only the start: when it ends, the link is closed, and
// nothing is cancelled on the wire, because neither initialize nor server/discover may be. Errors are *StartError.
func Connect(ctx context.Context, o Options) (*Session, error) {
	if o.Open == nil || o.Handler == nil {
		return nil, &ArgumentsError{Text: "Options.Open and Options.Handler are required"}
	}
	switch o.Era {
	case "", EraAuto, EraLegacy, EraModern:
	default:
		return nil, &ArgumentsError{Text: fmt.Sprintf("era %q is none of auto, legacy, modern", bounds.Printable(o.Era))}
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
	s.noise.began = time.Now()
	err = s.start(ctx)
	s.noise.end()
	if err != nil {
		s.endOver(closedError(err))
		return nil, err
	}
	s.noise.started()
	n := s.state.Load()
	s.log.Info("mcp session is up", "era", n.era.String(), "revision", n.revision)
	if n.era == Modern {
		s.listen.start(s)
	}
	go s.run()
	return s, nil
}

// start opens a link and negotiates on it. If the server does not know the transport, it does so once more over the
// link's fallback.
func (s *Session) start(ctx context.Context) error {
	if err := s.open(ctx, s.o.Open); err != nil {
		return err
	}
	first := s.negotiate(ctx)
	fallback := s.link.Fallback
	switch {
	case first == nil:
		return nil
	case fallback == nil, s.o.Era == EraModern, ctx.Err() != nil, !unknownTransport(first):
		return first
	}
	s.log.Info("mcp server does not know this transport; trying the older one")
	s.state.Store(&negotiated{})
	// A server that knows this transport may answer the older one with a stream on which nothing ever comes.
	octx, stop := s.within(ctx, errNoFallback)
	second := s.open(octx, fallback)
	stop()
	if second == nil {
		second = s.negotiate(ctx)
	}
	if second != nil {
		if rpcError(first.Err) != nil && second.Stage == "open" {
			return first // it knows the transport, and its error says what is wrong
		}
		return &StartError{Server: s.o.Server, Stage: protocol.MethodInitialize,
			Err: &bothFailedError{first: first.Err, second: second.Err}, Ended: second.Ended}
	}
	return nil
}

// negotiate starts the session on the open link. If it fails, it closes the link.
func (s *Session) negotiate(ctx context.Context) *StartError {
	offer, probed := Revision20251125, false
	var found finding
	switch {
	case s.link.LegacyOnly && s.o.Era == EraModern:
		return s.abandon("open", &ProtocolError{Text: "the setting era is modern, and this transport is a legacy one"})
	case s.link.LegacyOnly:
	case s.o.Era == EraModern || s.o.Era != EraLegacy && s.o.LastEra != Legacy:
		probed = true
		found = s.probe(ctx, s.o.Era != EraModern) // also if the server was modern before: that may have changed
		switch {
		case found.modern:
			return nil
		case s.o.Era == EraModern || found.fatal || found.ended && !s.respawns():
			return s.abandon(protocol.MethodDiscover, found.err)
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
	var err error
	if found.silent != nil {
		var modern bool
		if modern, err = s.initializeBeside(ctx, offer, found.silent); modern {
			return nil
		}
	} else {
		err = s.initialize(ctx, offer)
	}
	if err != nil && probed && s.respawns() && ctx.Err() == nil && errors.Is(err, jsonrpc.ErrClosed) {
		// Such a server may also exit a moment later: it answered the probe with an error, or not at all.
		if err := s.reopen(ctx); err != nil {
			return err
		}
		err = s.initialize(ctx, offer)
	}
	if err == nil {
		return nil
	}
	// A server that was legacy at the last connection may have changed.
	forgotten := s.o.LastEra == Legacy && s.o.Era != EraLegacy && !s.link.LegacyOnly
	if forgotten && answersInitialize(err) && s.probe(ctx, s.link.Fallback != nil).modern {
		return nil
	}
	return s.abandon(protocol.MethodInitialize, err)
}

// respawns reports whether a link that ended on the probe can be opened again: one to a process can, one to an address
// cannot.
func (s *Session) respawns() bool { return s.link.Exchanges == nil && !s.link.LegacyOnly }

func (s *Session) open(ctx context.Context, open Opener) *StartError {
	l, err := open(ctx)
	if err != nil {
		return &StartError{Server: s.o.Server, Stage: "open", Err: err}
	}
	s.attach(l)
	return nil
}

// reopen replaces a link that ended on the probe.
func (s *Session) reopen(ctx context.Context) *StartError {
	s.log.Info("mcp server ended on the era probe; starting it anew without")
	_ = s.peer.Close(errRespawn) // it has ended already
	s.state.Store(&negotiated{})
	return s.open(ctx, s.o.Open)
}

// within bounds a step of the start with Options.ProbeTimeout. Time in which a user signs in does not count.
func (s *Session) within(ctx context.Context, cause error) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	l, began := s.link, time.Now()
	before := l.signedIn()
	var watching sync.WaitGroup
	watching.Go(func() {
		for left := s.o.ProbeTimeout; wait(ctx, left); left = max(left, signInPoll) {
			if left = s.o.ProbeTimeout + l.signedIn() - before - time.Since(began); left <= 0 {
				end(cause)
			}
		}
	})
	return ctx, func() {
		end(errStartStep)
		watching.Wait()
	}
}

// badLine passes data that is no message to noise. There is no stdout over HTTP.
func (s *Session) badLine(line []byte) {
	if s.respawns() {
		s.noise.heard(line)
	}
}

// speak tells the transport the era and the revision of the messages from now on.
func (s *Session) speak(era Era, revision string) {
	if s.link.Speak != nil {
		s.link.Speak(era, revision)
	}
}

// abandon closes the link of a start that failed. It does so before it calls Ended, which needs the end of the link.
func (s *Session) abandon(stage string, err error) *StartError {
	if cancelled, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && cancelled.Cause != nil {
		err = cancelled.Cause
	}
	if closeErr := s.peer.Close(err); closeErr != nil {
		s.log.Debug("closing the link failed", "error", closeErr)
	}
	return &StartError{Server: s.o.Server, Stage: stage, Err: err, Noise: s.noise.text(), Ended: s.endedText()}
}

// initialize opens a legacy session (basic/lifecycle of 2024-11-05 to 2025-11-25). If the server refuses the revision
// and lists those that it has, initialize is sent once more.
func (s *Session) initialize(ctx context.Context, offer string) error {
	err := s.initializeWith(ctx, offer)
	if refusal := rpcError(err); refusal != nil {
		if other := bestMutual(legacyRevisions, versions(member(refusal.Data, "supported"))); other != "" && other != offer {
			return s.initializeWith(ctx, other)
		}
	}
	return err
}

func (s *Session) initializeWith(ctx context.Context, offer string) error {
	capabilities := s.capabilities()
	// A server may send its first question right after its answer, so the declared capabilities are set before that.
	s.state.Store(&negotiated{era: Legacy, declared: capabilities.at(offer)})
	params := newObject(256)
	params.text("protocolVersion", offer)
	params.name("capabilities")
	params.b = capabilities.appendTo(params.b, offer)
	params.raw("clientInfo", s.clientInfo)
	s.speak(Legacy, "")
	raw, err := s.peer.CallAs(ctx, protocol.MethodInitialize, params.end(), jsonrpc.How{Tag: s.o.Trace})
	if err != nil {
		return err
	}
	chosen := textOf(member(raw, "protocolVersion"))
	if chosen == nil {
		return &ProtocolError{Text: "the answer to initialize has no protocolVersion that is a string"}
	}
	if bestMutual(legacyRevisions, []string{*chosen}) == "" {
		return &ProtocolError{Text: fmt.Sprintf(
			"the server answered initialize with protocol version %q; this client offered %s and speaks %s there",
			bounds.Printable(*chosen), offer, strings.Join(legacyRevisions, ", "))}
	}
	s.state.Store(&negotiated{
		era:      Legacy,
		revision: *chosen,
		declared: capabilities.at(min(offer, *chosen)),
		info:     readInfo(raw, member(raw, "serverInfo")),
	})
	s.speak(Legacy, *chosen)
	return s.peer.NotifyAs(protocol.MethodInitialized, nil, s.o.Trace)
}

// readInfo parses what InitializeResult and DiscoverResult have in common. A member of the wrong type counts as absent:
// it is no reason to fail the start.
func readInfo(raw, implementation json.RawMessage) ServerInfo {
	info := ServerInfo{
		Name:    bounds.Cut(stringOf(member(implementation, "name")), bounds.NameBytes),
		Title:   bounds.Cut(stringOf(member(implementation, "title")), bounds.NameBytes),
		Version: bounds.Cut(stringOf(member(implementation, "version")), bounds.NameBytes),
		// the whole text may be a thousand times as long
		Instructions: strings.Clone(bounds.Cut(stringOf(member(raw, "instructions")), bounds.InstructionsBytes)),
		Capabilities: append(json.RawMessage(nil), member(raw, "capabilities")...),
	}
	// A capability that is absent or null was not declared; one of any other value was.
	offered := func(capability string) (declared json.RawMessage, offers bool) {
		declared = member(info.Capabilities, capability)
		return declared, declared != nil && !isNull(declared)
	}
	flag := func(capability json.RawMessage, name string) bool { return string(member(capability, name)) == "true" }
	tools, hasTools := offered("tools")
	prompts, hasPrompts := offered("prompts")
	resources, hasResources := offered("resources")
	info.HasTools, info.ToolsListChanged = hasTools, flag(tools, "listChanged")
	info.HasPrompts, info.PromptsListChanged = hasPrompts, flag(prompts, "listChanged")
	info.HasResources, info.ResourcesListChanged, info.ResourcesSubscribe = hasResources, flag(resources, "listChanged"),
		flag(resources, "subscribe")
	_, info.HasCompletions = offered("completions")
	_, info.Logging = offered("logging")
	if extensions, ok := offered("extensions"); ok {
		info.Extensions = extensions
	}
	if len(info.Capabilities) > bounds.CapabilitiesBytes { // parsed, but too long to be shown and kept
		info.Capabilities, info.Extensions = nil, nil
	}
	return info
}

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
	defer func() {
		_, _ = giveUpOn(probe, errStartStep)
		_, _ = giveUpOn(again, errStartStep)
	}()
	for first, second := probe, again; first != nil || second != nil; { // each iteration ends one of them
		var answered *jsonrpc.Call
		select {
		case <-over(first):
			answered, first = first, nil
		case <-over(second):
			answered, second = second, nil
		case <-wait.Done():
			return false
		}
		if isModern(answered) {
			return s.lateModern(answered)
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

const (
	// noiseAfter is how long a starting server may write text that is no message before that is reported.
	noiseAfter = 2 * time.Second
	noiseLines = 5
	noiseBytes = 4 << 10 // of a line, before secrets are removed
)

// noiseAdvice is the advice for a server that writes text that is no message on stdout.
const noiseAdvice = `stdout is for messages alone: logs belong on stderr, a wrapper may want to be quiet ` +
	`("npx", "--yes", "-q"), and some programs speak MCP only with an argument such as "stdio"`

// noise collects what a server writes on stdout while it starts that is no message: the log of a server that should use
// stderr, the banner of a wrapper, the usage text of a program that needs an argument. It is reported once, not earlier
// than noiseAfter after the start began, because some servers write a line and then start well. Of a session that has
// started, what was written until then is reported, or else the first line that comes.
type noise struct {
	printed func(line string) string
	tell    func(text string) // may be nil
	stray   func(text string) // for a session that has started; may be nil

	began time.Time // the start

	mu    sync.Mutex
	lines []string
	told  bool
	up    bool        // the session has started
	over  bool        // nothing more is collected
	timer *time.Timer // nil before the first line
}

// end stops the timer: from now on nothing is reported.
func (n *noise) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = true
	if n.timer != nil {
		n.timer.Stop()
	}
}

// started reports what was written during the start, once that is over.
func (n *noise) started() {
	n.mu.Lock()
	n.up, n.over = true, len(n.lines) > 0
	report := n.over && n.stray != nil
	n.mu.Unlock()
	if report {
		n.stray(n.text())
	}
}

// heard adds a line that is no message. It is called by the reading goroutine and does not block.
func (n *noise) heard(line []byte) {
	if n.add(line) {
		n.stray(n.text())
	}
}

// add keeps a line that is no message. It returns true if stray has to be called, which is not done under the lock.
func (n *noise) add(line []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || len(n.lines) == noiseLines {
		return false // before anything is made of it: a server may write such lines without end
	}
	text := strings.ToValidUTF8(string(line[:min(len(line), noiseBytes)]), "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return false
	}
	if n.printed != nil {
		text = n.printed(text)
	}
	if text = bounds.Printable(strings.TrimSpace(text)); slices.Contains(n.lines, text) {
		return false // the same line of a process that was started again
	}
	n.lines = append(n.lines, text)
	if n.timer == nil && !n.told && n.tell != nil {
		n.timer = time.AfterFunc(max(0, noiseAfter-time.Since(n.began)), n.say) // on another goroutine
	}
	n.over = n.up
	return n.up && n.stray != nil
}

func (n *noise) say() {
	n.mu.Lock()
	told := n.told
	n.told = true
	n.mu.Unlock()
	if !told {
		n.tell(n.text())
	}
}

// text returns what was written and the advice, or "" if nothing was.
func (n *noise) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == 0 {
		return ""
	}
	return "it wrote on stdout what is no message of the protocol: " + strings.Join(n.lines, " | ") + "; " + noiseAdvice
}
