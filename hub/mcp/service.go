package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// ErrNoLogging is returned by SetLogLevel for a legacy server that has declared no logging.
var ErrNoLogging = errors.New("the server has declared no logging")

// logLevels are the levels of RFC 5424, as server/utilities/logging lists them.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Ping sends a request to check that the server is alive, and returns nil for any answer. Modern servers have no ping,
// so server/discover is sent, which each of them must have. Unlike other requests that one is never cancelled on the
// wire.
func (s *Session) Ping(ctx context.Context) error {
	method := protocol.MethodPing
	if s.Era() == Modern {
		method = protocol.MethodDiscover
	}
	_, err := s.peer.Call(ctx, method, s.plainParams())
	if rpcError(err) != nil {
		return nil // the server is alive
	}
	return err
}

// SetLogLevel sets the lowest level of the log messages that the server sends. A legacy server is told at once; in the
// modern era each later request carries the level (2026-07-28 server/utilities/logging). Errors: *ArgumentsError for an
// unknown level, ErrNoLogging, and those of CallTool.
func (s *Session) SetLogLevel(ctx context.Context, level string) error {
	if !slices.Contains(logLevels, level) {
		return &ArgumentsError{Text: fmt.Sprintf("%q is no log level", bounds.Printable(level))}
	}
	if s.Era() == Modern {
		s.mu.Lock()
		s.level = level
		s.mu.Unlock()
		return nil
	}
	if !s.Info().Logging {
		return ErrNoLogging
	}
	_, err := s.peer.Call(ctx, protocol.MethodSetLevel, s.plainParams("level", string(jsontext.AppendString(nil, level))))
	return err
}

// RootsChanged notifies a legacy server that declared roots have changed. It does nothing if roots were not declared,
// or in the modern era, where servers ask when they need the roots.
func (s *Session) RootsChanged() error {
	n := s.state.Load()
	if n.era != Legacy || !n.declared.Roots {
		return nil
	}
	return s.peer.Notify(protocol.MethodRootsChanged, nil)
}
