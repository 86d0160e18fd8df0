package demoserver

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnalyses limits how many analyses are kept.
const maxAnalyses = 1000

// analysis is background work that outlives its request. It is a span of time without a goroutine: its progress follows
// from the clock, so nothing has to be stopped when the server ends.
type analysis struct {
	started time.Time
	takes   time.Duration
}

type startArgs struct {
	MS int `json:"ms,omitempty" jsonschema:"how long the analysis takes, in milliseconds"`
}

type startResult struct {
	ID string `json:"id" jsonschema:"the name under which to ask for its state"`
}

type statusArgs struct {
	ID string `json:"id" jsonschema:"what start_analysis answered"`
}

type statusResult struct {
	ID      string `json:"id"`
	State   string `json:"state" jsonschema:"running or done"`
	Percent int    `json:"percent"`
}

// addAnalysis adds the pair of tools for background work that the client polls. A cancel of the request that started
// the work does not stop it.
func (d *demo) addAnalysis() {
	add(d, spec{
		name: "start_analysis", title: "Start an analysis",
		description: "Starts work in the background and answers its id at once. The work goes on whatever becomes of the request.",
		traits:      additive,
		bounds:      map[string]bound{"ms": {0, 3600000, 5000}},
	}, func(_ context.Context, c *call, in startArgs) (*mcp.CallToolResult, startResult, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.analyses) >= maxAnalyses {
			return nil, startResult{}, fmt.Errorf("there are %d analyses already", maxAnalyses)
		}
		id := "analysis-" + strconv.Itoa(len(c.analyses)+1)
		c.analyses[id] = analysis{started: time.Now(), takes: ms(in.MS)}
		return nil, startResult{ID: id}, nil
	})

	add(d, spec{
		name: "check_status", title: "Check an analysis",
		description: "Says how far an analysis is.",
	}, func(_ context.Context, c *call, in statusArgs) (*mcp.CallToolResult, statusResult, error) {
		c.mu.Lock()
		a, ok := c.analyses[in.ID]
		c.mu.Unlock()
		if !ok {
			return nil, statusResult{}, fmt.Errorf("there is no analysis %q", in.ID)
		}
		gone := time.Since(a.started)
		if gone >= a.takes {
			return nil, statusResult{ID: in.ID, State: "done", Percent: 100}, nil
		}
		return nil, statusResult{ID: in.ID, State: "running", Percent: int(100 * gone / a.takes)}, nil
	})
}
