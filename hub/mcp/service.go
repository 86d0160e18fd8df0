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

// logLevels are those of RFC 5424, as server/utilities/logging lists them.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Ping asks the server for a sign of life and returns nil for any answer to it. Modern servers have no ping;
// server/discover, which each of them must have, stands in for it. Unlike any other request that one is never cancelled
// on the wire.
func (s *Session) Ping(ctx context.Context) error {
	method := protocol.MethodPing
	if s.Era() == Modern {
		method = protocol.MethodDiscover
	}
	_, err := s.peer.Call(ctx, method, s.plainParams())
	if rpcError(err) != nil {
		return nil // it lives
	}
	return err
}

// SetLogLevel sets from which level on the server sends log messages. A legacy server is told at once; in the modern
// era each later request carries the level (2026-07-28 server/utilities/logging). Errors: *ArgumentsError for an
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

// RootsChanged tells a legacy server that declared roots are other ones now. It does nothing where there is nobody to
// tell: roots were not declared, or the era is modern, where servers ask when they need them.
func (s *Session) RootsChanged() error {
	n := s.state.Load()
	if n.era != Legacy || !n.declared.Roots {
		return nil
	}
	return s.peer.Notify(protocol.MethodRootsChanged, nil)
}
