package servers

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// maxLegacy bounds the servers that are remembered as ones that ask in the legacy era alone; the oldest go.
const maxLegacy = 256

// legacyServer is one entry of the file. What the server says of itself is no part of the key.
type legacyServer struct {
	Launch  string    `json:"launch"`
	Version string    `json:"version"` // that the server had; another one is asked anew
	Time    time.Time `json:"time"`
}

func (l legacyServer) Key() string     { return l.Launch }
func (l legacyServer) When() time.Time { return l.Time }

var legacyForm = statefile.ListForm[legacyServer]{File: "eras.json", Member: "legacy", What: "eras of servers",
	Version: 1, Max: maxLegacy, Room: 1 << 20}

// legacyBook keeps which servers, started just so, ask in the legacy era alone although they speak the modern one.
type legacyBook struct {
	*statefile.List[string, legacyServer]
	load func() // reads the file, once
}

func openLegacy(dir string, log *slog.Logger) *legacyBook {
	k := statefile.OpenList(dir, legacyForm, log)
	return &legacyBook{k, sync.OnceFunc(k.Refresh)}
}

// lastEra is the era to try first for a launch whose last connection is unknown. It may read the file.
func (b *legacyBook) lastEra(launch string) mcp.Era {
	b.load()
	if _, ok := b.Get(launch); ok {
		return mcp.Legacy
	}
	return 0
}

// asksTheOldWay takes a server for one of the legacy era from its next connection on, if the config leaves that to the
// hub, and has it connected anew once nothing uses it. It returns what follows, for people.
func (s *Server) asksTheOldWay(session *mcp.Session) string {
	key, where := SettingOf(&s.conf, "era")
	if s.conf.Era == mcp.EraModern {
		return fmt.Sprintf("set %s: legacy%s", key, where)
	}
	then := "the server is connected in the legacy era as soon as nothing uses it"
	if s.conn != nil && s.conn.session == session {
		s.table.legacy.Put(legacyServer{Launch: s.Key(), Version: session.Info().Version, Time: time.Now().UTC()})
		s.table.legacy.Save()
		s.era, s.stale = mcp.Legacy, true
		s.renewIfIdle() // else the last of those who use it does
	}
	return fmt.Sprintf("%s; to have that from the start, set %s: legacy%s", then, key, where)
}

// RefusedToAsk is the error of a call that failed because its server asks people as servers of the legacy era do, nil
// for any other end of a call. what names what was called. The call is over, and is not repeated. What the server said
// in place of asking is handed on: it may be about more than that.
func (s *Server) RefusedToAsk(session *mcp.Session, requestID, what string, result *mcp.CallResult,
	err error) *event.Error {
	said, asked := session.AskedTheOldWay(result, err)
	if !asked {
		return nil
	}
	said = s.Quote(said)
	quoted := ""
	if said != "" {
		quoted = "it said: " + bounds.Printable(said) + "; "
	}
	return event.Fail(event.CodeFailedPrecondition, event.ReasonEraRefused,
		[]string{"server", s.name, "request_id", requestID, "setting", "era", "said", said},
		"%s of server %q wanted to ask something, and the server does not ask under protocol revision %s; %s"+
			"the call may have had effects and was not repeated; %s", what, s.name, session.Revision(),
		quoted, s.asksTheOldWay(session))
}

// knowsVersion forgets that a server asks in the legacy era alone when it is another version than the one that did so:
// its next start looks anew.
func (s *Server) knowsVersion(session *mcp.Session) {
	kept, ok := s.table.legacy.Get(s.Key())
	if !ok || session.Era() == mcp.Legacy && kept.Version == session.Info().Version {
		return
	}
	s.table.legacy.Drop(func(launch string, _ legacyServer) bool { return launch == s.Key() })
	s.table.legacy.Save()
	s.era = 0
}
