package demoserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errSearchTime is the cause with which search_stream ends a search whose budget is spent.
var errSearchTime = errors.New("the search's budget is spent")

type batchArgs struct {
	Items  int `json:"items,omitempty" jsonschema:"how many items there are"`
	ItemMS int `json:"item_ms,omitempty" jsonschema:"how long an item takes, in milliseconds"`
}

type datasetArgs struct {
	Rows    int `json:"rows,omitempty" jsonschema:"how many rows there are"`
	Chunk   int `json:"chunk,omitempty" jsonschema:"how many rows are done between two looks for a cancel"`
	ChunkMS int `json:"chunk_ms,omitempty" jsonschema:"how long a chunk takes, in milliseconds"`
}

type searchArgs struct {
	Query    string `json:"query" jsonschema:"what to search for"`
	BudgetMS int    `json:"budget_ms,omitempty" jsonschema:"how long the search may take, in milliseconds"`
}

type searchResult struct {
	Results []string `json:"results" jsonschema:"what was found"`
	Partial bool     `json:"partial" jsonschema:"whether time was up before everything was searched"`
}

// A search finds searchHits results, one each searchHitMS milliseconds.
const (
	searchHits  = 10
	searchHitMS = 200
)

// addBatches adds the tools that process many items and can report their progress.
func (d *demo) addBatches() {
	add(d, spec{
		name: "batch_process", title: "Process a batch",
		description: "Processes items one by one with progress. When it is cancelled, it writes down how many were done.",
		traits:      additive,
		bounds:      map[string]bound{"items": {1, 100000, 20}, "item_ms": {0, 600000, 200}},
	}, func(ctx context.Context, c *call, in batchArgs) (*mcp.CallToolResult, any, error) {
		for i := range in.Items {
			if err := wait(ctx, ms(in.ItemMS)); err != nil {
				// The client ignores the answer of a cancelled call, so the summary also goes to the journal.
				summary := fmt.Sprintf("%d of %d items done", i, in.Items)
				c.note(EventPartial, summary)
				return nil, nil, fmt.Errorf("%s: %w", summary, err)
			}
			c.progress(ctx, i+1, in.Items, fmt.Sprintf("item %d done", i+1))
		}
		return text("all %d items done", in.Items), nil, nil
	})

	add(d, spec{
		name: "process_dataset", title: "Process a dataset",
		description: "Processes rows in chunks and looks for a cancel between two chunks only, never inside one.",
		bounds:      map[string]bound{"rows": {1, 1e9, 10000}, "chunk": {1, 1e9, 1000}, "chunk_ms": {0, 600000, 300}},
	}, func(ctx context.Context, c *call, in datasetArgs) (*mcp.CallToolResult, any, error) {
		whole := context.WithoutCancel(ctx)
		for done := 0; done < in.Rows; {
			if ctx.Err() != nil {
				summary := fmt.Sprintf("%d of %d rows done", done, in.Rows)
				c.note(EventPartial, summary)
				return nil, nil, fmt.Errorf("%s: %w", summary, context.Cause(ctx))
			}
			if err := wait(whole, ms(in.ChunkMS)); err != nil {
				return nil, nil, err
			}
			done = min(done+in.Chunk, in.Rows)
			c.progress(ctx, done, in.Rows, fmt.Sprintf("%d rows done", done))
		}
		return text("all %d rows done", in.Rows), nil, nil
	})

	add(d, spec{
		name: "search_stream", title: "Search",
		description: "Finds results one after the other and reports each as progress. When its budget is spent, answers what it has, marked as partial.",
		bounds:      map[string]bound{"budget_ms": {1, 600000, 1000}},
	}, func(ctx context.Context, c *call, in searchArgs) (*mcp.CallToolResult, searchResult, error) {
		limited, stop := context.WithTimeoutCause(ctx, ms(in.BudgetMS), errSearchTime)
		defer stop()
		found := searchResult{Results: []string{}}
		for i := range searchHits {
			err := wait(limited, ms(searchHitMS))
			if errors.Is(err, errSearchTime) {
				found.Partial = true
				return nil, found, nil
			}
			if err != nil {
				return nil, found, fmt.Errorf("search stopped after %d results: %w", i, err)
			}
			hit := fmt.Sprintf("%s, result %d", in.Query, i+1)
			found.Results = append(found.Results, hit)
			c.progress(ctx, i+1, searchHits, hit)
		}
		return nil, found, nil
	})
}
