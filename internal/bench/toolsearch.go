package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/toolset"
)

// measureToolset measures what a model's use of 1,000 tools of 20 servers costs in this process. No server is involved.
func measureToolset(ctx context.Context, o options) ([]row, error) {
	verbs := strings.Fields("create list get update delete search merge read write run")
	things := strings.Fields("issue repository pull_request file branch table message channel page event")
	schema := json.RawMessage(`{"type":"object","properties":{"owner":{"type":"string"},"pageSize":{"type":"integer"}}}`)
	var index toolset.Index
	var named []toolset.Named
	for s := range 20 {
		server := fmt.Sprint("server", s)
		var tools []toolset.Searched
		for i := range 50 {
			verb, thing := verbs[i%10], things[(i/10+s)%10]
			name := fmt.Sprintf("%s_%s_%d", verb, thing, i)
			tools = append(tools, toolset.Searched{Name: name, InputSchema: schema,
				Description: strings.Repeat("Use this to "+verb+" a "+thing+" of the account of the user. ", 20)})
			named = append(named, toolset.Named{Identity: toolset.Identity{Server: server, Name: name}})
		}
		index.Put(server, 1, func() []toolset.Searched { return tools })
	}
	var searching, naming []time.Duration
	for range pick(o, 200, 50) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		start := time.Now()
		hits := index.Search("how do I create a new issue in the repository of the user", 10, nil)
		searching = append(searching, time.Since(start))
		if len(hits) != 10 || !strings.HasPrefix(hits[0].Name, "create_issue_") {
			return nil, fmt.Errorf("the search finds %v", hits)
		}
		start = time.Now()
		table := toolset.NewTable(toolset.Style{Bytes: toolset.ModelName}, named)
		naming = append(naming, time.Since(start))
		if len(table.Aside()) > 0 {
			return nil, fmt.Errorf("without a name: %v", table.Aside())
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds()) / 1000
	}
	return []row{
		number("1,000 tools searched", median(searching), "ms", "").atMost(5),
		number("1,000 tools named", median(naming), "ms", ""),
	}, nil
}
