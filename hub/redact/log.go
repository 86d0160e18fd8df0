package redact

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// NewLog returns a log handler that removes the secrets of r from messages and from values of every kind, and passes
// the records to h.
func NewLog(h slog.Handler, r *Redactor) slog.Handler { return redactingLog{h, r} }

// redactingLog is a slog.Handler that keeps secrets out of the log, in messages and in values of every kind.
type redactingLog struct {
	slog.Handler
	redactor *Redactor
}

// Handle implements slog.Handler.
func (l redactingLog) Handle(ctx context.Context, r slog.Record) error {
	if l.redactor.now.Load() == nil {
		return l.Handler.Handle(ctx, r)
	}
	clean := slog.NewRecord(r.Time, r.Level, l.redactor.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(l.attr(a))
		return true
	})
	return l.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler. Values that were bound to a logger before a secret was known are not changed: the
// hub binds only names of servers.
func (l redactingLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = l.attr(a)
	}
	return redactingLog{l.Handler.WithAttrs(clean), l.redactor}
}

// WithGroup implements slog.Handler.
func (l redactingLog) WithGroup(name string) slog.Handler {
	return redactingLog{l.Handler.WithGroup(name), l.redactor}
}

func (l redactingLog) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(l.redactor.Text(v.String()))
	case slog.KindGroup:
		members := v.Group()
		clean := make([]slog.Attr, len(members))
		for i, m := range members {
			clean[i] = l.attr(m)
		}
		v = slog.GroupValue(clean...)
	case slog.KindAny:
		if text := asText(v.Any()); l.redactor.Text(text) != text {
			v = slog.StringValue(l.redactor.Text(text))
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// asText returns the text with which a value would appear in the log.
func asText(value any) string {
	switch v := value.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	if text, err := json.Marshal(value); err == nil {
		return string(text)
	}
	return fmt.Sprint(value)
}
