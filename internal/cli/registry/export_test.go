package registry

import (
	"github.com/mcphub-go/mcphub/hub/registry"
)

// What the tests see of the registry commands.
type (
	ShownServer = foundServer
	ShownWay    = offeredWay
)

const MostPages = maxFound/registry.MaxPage + barePages
