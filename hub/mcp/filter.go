package mcp

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// filter is the set of subscriptions of a listen stream.
type filter struct {
	topics [topics]bool // changes of the lists
	uris   []string     // URIs of resources, sorted
}

// listNames are the members of the filter on the wire.
var listNames = [topics]string{aboutTools: "toolsListChanged", aboutPrompts: "promptsListChanged",
	aboutResources: "resourcesListChanged"}

const uriListName = "resourceSubscriptions"

func (f filter) equal(g filter) bool { return f.topics == g.topics && slices.Equal(f.uris, g.uris) }

func (f filter) empty() bool { return f.topics == [topics]bool{} && len(f.uris) == 0 }

func (f filter) json() string {
	o := newObject(128)
	for about, name := range listNames {
		if f.topics[about] {
			o.raw(name, []byte("true"))
		}
	}
	if len(f.uris) > 0 {
		list := []byte{'['}
		for i, uri := range f.uris {
			if i > 0 {
				list = append(list, ',')
			}
			list = jsontext.AppendString(list, uri)
		}
		o.raw(uriListName, append(list, ']'))
	}
	return string(o.end())
}

// toHear returns the filter that is wanted at this moment.
func (s *Session) toHear() filter {
	info := s.Info()
	return filter{
		topics: [topics]bool{aboutTools: info.ToolsListChanged, aboutPrompts: info.PromptsListChanged,
			aboutResources: info.ResourcesListChanged},
		uris: s.subs.uris(false),
	}
}
