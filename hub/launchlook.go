package hub

import (
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// looked is what there is to agree to, and what would be started then.
type looked struct {
	grants.Sight
	form  grants.Form  // of what needs consent
	key   string       // the launch key of what was looked at
	entry *configEntry // that was looked at; nil: there was none any more
}

// lookAt looks at an entry of s as it is now: what decides no launch, such as the tools that it allows, may have
// changed since conf was read.
func (h *Hub) lookAt(s *server, conf config.Server, inputs map[string]string) looked {
	l := looked{key: conf.LaunchKey()}
	var v config.Variables
	h.update(func() {
		if l.entry = s.entries.find(conf.Origin.File, l.key); l.entry != nil {
			conf = l.entry.conf
		}
		v = h.variables(conf)
	})
	l.Sight = grants.Look(conf, v, inputs, h.environ)
	if needsConsent(conf) {
		l.form = h.formOf(conf, v, l.Sight)
	}
	return l
}

// formOf makes a form. It takes time that a stranger chooses, and may read a file: without the lock.
func (h *Hub) formOf(conf config.Server, v config.Variables, seen grants.Sight) grants.Form {
	if h.onForm != nil {
		h.onForm()
	}
	return h.grants.Form(conf, v, seen)
}
