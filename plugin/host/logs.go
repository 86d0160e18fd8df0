package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxLogLine  = 256 << 10 // a longer line is cut
	tailLines   = 20
	maxTailLine = 512
)

// logReader reads the hub's standard error. Log lines in hclog's format go to the logger, other lines to raw.
type logReader struct {
	logger *slog.Logger
	raw    io.Writer

	mu   sync.Mutex
	tail []string // guarded by mu; the last lines, for the error of Open
}

func newLogReader(logger *slog.Logger, raw io.Writer) *logReader {
	return &logReader{logger: logger, raw: raw}
}

// run reads to the end of stderr. It never stops earlier, since the hub would lose logs if the pipe were full.
func (l *logReader) run(stderr io.Reader) {
	r := bufio.NewReaderSize(stderr, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			l.line(line)
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line without its end, cut to maxLogLine.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLogLine-len(line))]...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

func (l *logReader) line(line []byte) {
	at, level, message, attrs, ok := parseLogLine(line)
	if !ok {
		l.remember(string(line))
		_, _ = l.raw.Write(append(line, '\n'))
		return
	}
	if level >= slog.LevelWarn {
		var text strings.Builder
		text.WriteString(message)
		for _, a := range attrs {
			fmt.Fprintf(&text, " %s=%v", a.Key, a.Value)
		}
		l.remember(text.String())
	}
	ctx := context.Background()
	if !l.logger.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(at, level, message, 0)
	record.AddAttrs(attrs...)
	_ = l.logger.Handler().Handle(ctx, record)
}

// remember keeps a line for the error of Open, cut to a bound and without control characters.
func (l *logReader) remember(line string) {
	if len(line) > maxTailLine {
		cut := maxTailLine
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "..."
	}
	line = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == tailLines {
		l.tail = slices.Delete(l.tail, 0, 1)
	}
	l.tail = append(l.tail, line)
}

// last returns the remembered lines.
func (l *logReader) last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tail)
}

// parseLogLine parses one line of JSON in hclog's format. Numbers keep their spelling, and attributes are sorted by
// name. ok is false for a line without a message and a level that are strings: it is not a log line.
func parseLogLine(line []byte) (at time.Time, level slog.Level, message string, attrs []slog.Attr, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return at, 0, "", nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil || decoder.More() {
		return at, 0, "", nil, false
	}
	message, okMessage := fields["@message"].(string)
	name, okLevel := fields["@level"].(string)
	level, known := levels[name]
	if !okMessage || !okLevel || !known {
		return at, 0, "", nil, false
	}
	if text, isText := fields["@timestamp"].(string); isText {
		at, _ = time.Parse(time.RFC3339Nano, text) // handlers leave out a zero time
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(key, "@") || key == "@module" {
			attrs = append(attrs, slog.Any(strings.TrimPrefix(key, "@"), fields[key]))
		}
	}
	return at, level, message, attrs, true
}

var levels = map[string]slog.Level{
	"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError,
}
