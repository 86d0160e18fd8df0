package demoserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sleepArgs struct {
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long to sleep, in seconds"`
	Steps   int     `json:"steps,omitempty" jsonschema:"how many progress notifications to send on the way"`
}

type longTaskArgs struct {
	Steps  int `json:"steps,omitempty" jsonschema:"how many steps there are"`
	StepMS int `json:"step_ms,omitempty" jsonschema:"how long a step takes, in milliseconds"`
}

type stubbornArgs struct {
	MS int `json:"ms,omitempty" jsonschema:"how long to work, in milliseconds, cancelled or not"`
}

// addTimed adds the tools that mostly wait.
func (d *demo) addTimed() {
	add(d, spec{
		name: "sleep", title: "Sleep",
		description: "Sleeps for some seconds and reports progress. Stops at once when it is cancelled.",
		bounds:      map[string]bound{"seconds": {0, 3600, 5}, "steps": {1, 1000, 10}},
	}, func(ctx context.Context, c *call, in sleepArgs) (*mcp.CallToolResult, any, error) {
		total := time.Duration(in.Seconds * float64(time.Second))
		for i := range in.Steps {
			// Each step ends at its share of the total, so that rounding errors do not add up.
			step := total*time.Duration(i+1)/time.Duration(in.Steps) - total*time.Duration(i)/time.Duration(in.Steps)
			if err := wait(ctx, step); err != nil {
				return nil, nil, fmt.Errorf("woken after %d of %d steps: %w", i, in.Steps, err)
			}
			c.progress(ctx, i+1, in.Steps, fmt.Sprintf("slept %v of %v", total*time.Duration(i+1)/time.Duration(in.Steps),
				total))
		}
		return text("slept %v", total), nil, nil
	})

	add(d, spec{
		name: "long_task", title: "Long task",
		description: "Works step by step, with a log message and progress for each step. A cancel is noticed in the middle of a step.",
		bounds:      map[string]bound{"steps": {1, 10000, 10}, "step_ms": {0, 600000, 500}},
	}, func(ctx context.Context, c *call, in longTaskArgs) (*mcp.CallToolResult, any, error) {
		for i := range in.Steps {
			c.log(ctx, "info", fmt.Sprintf("step %d of %d begins", i+1, in.Steps))
			if err := wait(ctx, ms(in.StepMS)); err != nil {
				c.note(EventPartial, fmt.Sprintf("%d of %d steps done", i, in.Steps))
				return nil, nil, fmt.Errorf("stopped in step %d of %d: %w", i+1, in.Steps, err)
			}
			c.progress(ctx, i+1, in.Steps, fmt.Sprintf("step %d of %d done", i+1, in.Steps))
		}
		return text("all %d steps done", in.Steps), nil, nil
	})

	add(d, spec{
		name: "stubborn", title: "Stubborn",
		description: "Ignores cancellation: works to its end and answers late.",
		bounds:      map[string]bound{"ms": {0, 600000, 5000}},
	}, func(ctx context.Context, c *call, in stubbornArgs) (*mcp.CallToolResult, any, error) {
		if err := wait(context.WithoutCancel(ctx), ms(in.MS)); err != nil {
			return nil, nil, err
		}
		if ctx.Err() != nil {
			return text("worked on for %d ms although it was cancelled", in.MS), nil, nil
		}
		return text("worked for %d ms", in.MS), nil, nil
	})
}
