package toolset

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
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

// Searched holds the parts of a tool that are searched.
type Searched struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
}

// Hit is a result of a search. A higher score is better.
type Hit struct {
	Identity
	Score float64
}

// Index is a search index of tools. The part of a server is built once for each version of its list, and replaced
// without changing others. The zero value is empty and ready to use. It is safe for concurrent use.
type Index struct {
	mu      sync.RWMutex
	servers map[string]*serverTools // guarded by mu; a *serverTools is immutable
}

// serverTools is the part of the index for one server.
type serverTools struct {
	version uint64
	tools   []string
	lengths []float64
	total   float64
	words   map[string][]posting
}

type posting struct {
	tool  int
	count float64
}

// Put replaces the tools of a server. It does nothing, and does not call tools, if the index has that version already.
func (x *Index) Put(server string, version uint64, tools func() []Searched) {
	x.mu.RLock()
	known := x.servers[server]
	x.mu.RUnlock()
	if known != nil && known.version == version {
		return
	}
	p := newPart(version, tools())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.servers == nil {
		x.servers = map[string]*serverTools{}
	}
	x.servers[server] = p
}

// Retain removes the servers for which keep returns false. keep must not block.
func (x *Index) Retain(keep func(server string) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.servers, func(server string, _ *serverTools) bool { return !keep(server) })
}

func newPart(version uint64, tools []Searched) *serverTools {
	tools = tools[:min(len(tools), bounds.SearchTools)]
	p := &serverTools{version: version, tools: make([]string, len(tools)), lengths: make([]float64, len(tools)),
		words: map[string][]posting{}}
	for i, t := range tools {
		p.tools[i] = t.Name
		counts := t.counts()
		for word, n := range counts {
			p.words[word] = append(p.words[word], posting{i, n})
			p.lengths[i] += n
		}
		p.total += p.lengths[i]
	}
	return p
}

// counts returns how often a tool has each word; words of its name count more.
func (t *Searched) counts() map[string]float64 {
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
	jsontext.Members(jsontext.Get(t.InputSchema, "properties"), func(name []byte, _ json.RawMessage) bool {
		add(string(name), 1)
		return left > 0
	})
	return counts
}

// Search returns the tools that have words of a query, the best first, at most limit of them. Tools with the same score
// are sorted by server and name. Only tools for which may returns true are returned; nil means all.
func (x *Index) Search(query string, limit int, may func(Identity) bool) []Hit {
	var asked []string
	words(query[:min(len(query), bounds.SearchQueryBytes)], func(word string) bool {
		if !slices.Contains(asked, word) {
			asked = append(asked, word)
		}
		return len(asked) < bounds.SearchQueryWords
	})
	x.mu.RLock()
	type server struct {
		name string
		*serverTools
		scores []float64
	}
	servers := make([]server, 0, len(x.servers))
	var count int
	var total float64
	for name, p := range x.servers {
		servers = append(servers, server{name, p, nil})
		count += len(p.tools)
		total += p.total
	}
	x.mu.RUnlock()
	if count == 0 || limit <= 0 {
		return nil
	}
	// Sums of floating-point numbers depend on the order of the terms.
	sort.Slice(servers, func(i, j int) bool { return servers[i].name < servers[j].name })
	mean := max(total/float64(count), 1)
	for _, word := range asked {
		with := 0
		for _, s := range servers {
			with += len(s.words[word])
		}
		if with == 0 {
			continue
		}
		rarity := math.Log(1 + (float64(count-with)+0.5)/(float64(with)+0.5))
		for i := range servers {
			s := &servers[i]
			for _, at := range s.words[word] {
				if s.scores == nil {
					s.scores = make([]float64, len(s.tools))
				}
				length := 1 - lengthBias + lengthBias*s.lengths[at.tool]/mean
				s.scores[at.tool] += rarity * at.count * (saturation + 1) / (at.count + saturation*length)
			}
		}
	}
	var hits []Hit
	for _, s := range servers {
		for tool, score := range s.scores {
			if id := (Identity{s.name, s.tools[tool]}); score > 0 && (may == nil || may(id)) {
				hits = append(hits, Hit{id, score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.compare(b.Identity))
	})
	return hits[:min(len(hits), limit)]
}
