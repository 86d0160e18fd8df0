package demoserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errScanTime is the cause with which scan_directory ends at its own time limit.
var errScanTime = errors.New("the scan's own time limit is over")

type scanArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"the directory to scan; the working directory when left out"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"the tool's own time limit, in milliseconds"`
	EntryMS   int    `json:"entry_ms,omitempty" jsonschema:"how long each entry takes, in milliseconds"`
}

type processFileArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"the file to process"`
	Content string `json:"content,omitempty" jsonschema:"the text to process, when there is no path"`
	HoldMS  int    `json:"hold_ms,omitempty" jsonschema:"how long to hold the temporary file, in milliseconds"`
}

// addFiles adds the tools that use the file system.
func (d *demo) addFiles() {
	add(d, spec{
		name: "scan_directory", title: "Scan a directory",
		description: "Counts the entries below a directory under a time limit of its own. When that expires, answers an error that says how far it came.",
		bounds:      map[string]bound{"timeout_ms": {1, 600000, 2000}, "entry_ms": {0, 10000, 20}},
	}, scanDirectory)

	add(d, spec{
		name: "process_file", title: "Process a file",
		description: "Copies a file or a text into a temporary file, holds it for a while and counts its lines. The temporary file is removed however the call ends.",
		traits:      additive,
		bounds:      map[string]bound{"hold_ms": {0, 600000, 2000}},
	}, processFile)
}

func scanDirectory(ctx context.Context, c *call, in scanArgs) (*mcp.CallToolResult, any, error) {
	root := in.Path
	if root == "" {
		root = "."
	}
	limited, stop := context.WithTimeoutCause(ctx, ms(in.TimeoutMS), errScanTime)
	defer stop()
	var dirs, files, unreadable int
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			unreadable++
			return nil
		case e.IsDir():
			dirs++
		default:
			files++
		}
		c.progress(ctx, dirs+files, 0, fmt.Sprintf("%d entries", dirs+files))
		return wait(limited, ms(in.EntryMS))
	})
	seen := fmt.Sprintf("%d directories, %d files, %d unreadable", dirs, files, unreadable)
	switch {
	case errors.Is(err, errScanTime):
		return nil, nil, fmt.Errorf("gave up after %d ms (timeout_ms): %s so far", in.TimeoutMS, seen)
	case err != nil:
		if ctx.Err() != nil {
			c.note(EventPartial, seen)
		}
		return nil, nil, fmt.Errorf("scan ended after %s: %w", seen, err)
	}
	return text("%s", seen), nil, nil
}

func processFile(ctx context.Context, c *call, in processFileArgs) (_ *mcp.CallToolResult, _ any, err error) {
	content := []byte(in.Content)
	if in.Path != "" {
		if content, err = os.ReadFile(in.Path); err != nil {
			return nil, nil, err
		}
	}
	f, err := os.CreateTemp(c.opts.TempDir, "mcphub-demo-*")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	c.note(EventTempFile, f.Name())
	if _, err := f.Write(content); err != nil {
		return nil, nil, err
	}
	const steps = 10
	for i := range steps {
		if err := wait(ctx, ms(in.HoldMS)/steps); err != nil {
			return nil, nil, fmt.Errorf("stopped with the temporary file still there, which is removed now: %w", err)
		}
		c.progress(ctx, i+1, steps, "processing")
	}
	return text("%d bytes, %d lines", len(content), strings.Count(string(content), "\n")), nil, nil
}
