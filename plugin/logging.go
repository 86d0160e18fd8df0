package plugin

import (
	"io"
	"log/slog"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

const (
	// levelOff is above every level that is logged.
	levelOff = slog.Level(1 << 10)
	// logTime is hclog's own time format, with microseconds.
	logTime = "2006-01-02T15:04:05.000000Z07:00"
)

// logLevel parses the value of MCPHUB_LOG. An unknown value counts as info, and problem says so.
func logLevel(value string) (level slog.Level, problem string) {
	switch strings.ToLower(value) {
	case "trace", "debug":
		return slog.LevelDebug, ""
	case "", "info":
		return slog.LevelInfo, ""
	case "warn", "warning":
		return slog.LevelWarn, ""
	case "error":
		return slog.LevelError, ""
	case "off":
		return levelOff, ""
	}
	return slog.LevelInfo, handshake.EnvLog + " should be debug, info, warn, error or off; info is used"
}

// newLogger returns a logger that writes one line of JSON for each record, in the format of hclog: a Go host reads
// @level, @message and @timestamp, and requires that each of them is a string.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: hclogShape}))
}

func hclogShape(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	// Only slog's own attributes have these kinds of values under these keys. An attribute of a caller with the same name
	// keeps that name, or at least stays a string.
	switch a.Key {
	case slog.TimeKey:
		if a.Value.Kind() == slog.KindTime {
			return slog.String("@timestamp", a.Value.Time().Format(logTime))
		}
	case slog.LevelKey:
		if level, ok := a.Value.Any().(slog.Level); ok {
			return slog.String("@level", levelName(level))
		}
	case slog.MessageKey:
		if a.Value.Kind() == slog.KindString {
			return slog.String("@message", a.Value.String())
		}
	case "@timestamp", "@level", "@message":
		a.Key = strings.TrimPrefix(a.Key, "@")
	}
	return a
}

func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

// newPluginLogger returns a logger for go-plugin, which writes through the same writer. The debug lines of go-plugin
// are logged only at debug level.
func newPluginLogger(w io.Writer, level slog.Level) hclog.Logger {
	l := hclog.Info
	switch {
	case level >= levelOff:
		l = hclog.Off
	case level <= slog.LevelDebug:
		l = hclog.Debug
	case level >= slog.LevelError:
		l = hclog.Error
	case level >= slog.LevelWarn:
		l = hclog.Warn
	}
	return hclog.New(&hclog.LoggerOptions{Name: "go-plugin", Level: l, Output: w, JSONFormat: true})
}
