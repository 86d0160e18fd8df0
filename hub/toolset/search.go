package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Okapi BM25 with the usual parameters (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009). A word of the name counts as often as nameWeight words of the description: names of tools are chosen
// to be found, and descriptions are long.
const (
	saturation = 1.2
	lengthBias = 0.75
	nameWeight = 4
)

// Numbers of tools that a search returns.
const (
	fewFound  = 5 // if the limit is 0
	mostFound = 100
)

// Found is a result of a search. A higher score is better.
type Found struct {
	event.ToolInfo
	ModelName string
	Score     float64
}

// Search finds tools of a profile by words of their names, descriptions and argument names, the best first. A limit of
// 0 means 5, and one above 100 means 100.
func (c *Catalog) Search(ctx context.Context, query string, limit int, profile string) ([]Found, error) {
	p, err := c.Profile(profile)
	if err != nil {
		return nil, err
	}
	return c.SearchIn(ctx, query, limit, p)
}

// SearchIn is Search with a profile from Profile.
func (c *Catalog) SearchIn(ctx context.Context, query string, limit int, p *config.Profile) ([]Found, error) {
	all, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = fewFound
	}
	table := c.named(all)
	found := []Found{}
	seen := map[Identity]bool{} // a server may list a tool twice
	for _, h := range c.index.search(query, all) {
		id := identity(*h.tool)
		name, ok := table.names[id]
		if !ok || seen[id] || !p.Has(id.Server, id.Name) {
			continue
		}
		seen[id] = true
		info := *h.tool
		info.Description = bounds.Cut(info.Description, bounds.DescriptionBytes)
		if found = append(found, Found{info, name, h.score}); len(found) == min(limit, mostFound) {
			break
		}
	}
	return found, nil
}

// index is a search index of tools. The part of a server is made once for each version of its list. The zero value is
// empty and ready to use. It is safe for concurrent use.
type index struct {
	mu    sync.Mutex
	parts map[string]*part // by server; replaced as a whole, and a part is never changed
}

// part is the index of the tools of one server, which have numbers in it.
type part struct {
	version uint64
	lengths []float64
	total   float64
	words   map[string][]posting
}

type posting struct {
	tool  int
	count float64
}

// partsOf returns the parts for these tools, which are grouped by server.
func (x *index) partsOf(of map[string][]event.ToolInfo) map[string]*part {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := make(map[string]*part, len(of))
	for server, tools := range of {
		version := versionOf(tools)
		if now[server] = x.parts[server]; now[server] == nil || now[server].version != version {
			now[server] = newPart(version, tools[:min(len(tools), bounds.SearchTools)])
		}
	}
	x.parts = now
	return now
}

func newPart(version uint64, tools []event.ToolInfo) *part {
	p := &part{version: version, lengths: make([]float64, len(tools)), words: map[string][]posting{}}
	for i := range tools {
		for word, n := range counts(&tools[i]) {
			p.words[word] = append(p.words[word], posting{i, n})
			p.lengths[i] += n
		}
		p.total += p.lengths[i]
	}
	return p
}

// counts returns how often a tool has each word; words of its name count more.
func counts(t *event.ToolInfo) map[string]float64 {
	counts := map[string]float64{}
	left := bounds.SearchedBytes
	add := func(text string, weight float64) {
		text = text[:min(len(text), left)]
		left -= len(text)
		words(text, func(word string) bool {
			if _, has := counts[word]; has || len(counts) < bounds.SearchedWords {
				counts[word] += weight
			}
			return true
		})
	}
	add(t.Name, nameWeight)
	add(t.Title, nameWeight/2)
	add(t.Description, 1)
	schema := jsontext.Get(json.RawMessage(t.Definition), "inputSchema")
	jsontext.Members(jsontext.Get(schema, "properties"), func(name []byte, _ json.RawMessage) bool {
		add(string(name), 1)
		return left > 0
	})
	return counts
}

// hit is a tool that has words of a query.
type hit struct {
	tool  *event.ToolInfo
	score float64
}

// search returns those of all tools that have words of a query, the best first. Tools with the same score are sorted by
// server and name.
func (x *index) search(query string, all []event.ToolInfo) (hits []hit) {
	var asked []string
	words(query[:min(len(query), bounds.SearchQueryBytes)], func(word string) bool {
		if !slices.Contains(asked, word) {
			asked = append(asked, word)
		}
		return len(asked) < bounds.SearchQueryWords
	})
	of := map[string][]event.ToolInfo{}
	for _, t := range all {
		of[t.Server] = append(of[t.Server], t)
	}
	parts := x.partsOf(of)
	servers := slices.Sorted(maps.Keys(parts)) // sums of floating-point numbers depend on the order of the terms
	count, total := 0, 0.0
	for _, server := range servers {
		count += len(parts[server].lengths)
		total += parts[server].total
	}
	mean := max(total/float64(count), 1)
	scores := make(map[string][]float64, len(parts))
	for _, word := range asked {
		with := 0
		for _, p := range parts {
			with += len(p.words[word])
		}
		rarity := math.Log(1 + (float64(count-with)+0.5)/(float64(with)+0.5))
		for server, p := range parts {
			for _, at := range p.words[word] {
				if scores[server] == nil {
					scores[server] = make([]float64, len(p.lengths))
				}
				length := 1 - lengthBias + lengthBias*p.lengths[at.tool]/mean
				scores[server][at.tool] += rarity * at.count * (saturation + 1) / (at.count + saturation*length)
			}
		}
	}
	for server, tools := range of {
		for tool, score := range scores[server] {
			if score > 0 {
				hits = append(hits, hit{&tools[tool], score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.tool.Server, b.tool.Server),
			strings.Compare(a.tool.Name, b.tool.Name))
	})
	return hits
}
