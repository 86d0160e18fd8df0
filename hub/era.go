package hub

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// maxLegacy limits the servers recorded in the legacyBook; the oldest go first.
const maxLegacy = 256

// legacyServer is one record of the file. The server's own name is not part of the key.
type legacyServer struct {
	Launch  string    `json:"launch"`
	Version string    `json:"version"` // of the server; a server of another version is tried in the modern era again
	Time    time.Time `json:"time"`
}

func (l legacyServer) Key() string     { return l.Launch }
func (l legacyServer) When() time.Time { return l.Time }

var legacyForm = statefile.ListForm[legacyServer]{File: "eras.json", Member: "legacy", Version: 1,
	Max: maxLegacy, Room: 1 << 20}

// legacyBook records the servers, by launch key, that speak the modern era but can ask people only in the legacy one.
type legacyBook struct {
	*statefile.List[string, legacyServer]
	load func() // reads the file, once
}

func openLegacy(dir string, log *slog.Logger) *legacyBook {
	k := statefile.OpenList(dir, legacyForm, log)
	return &legacyBook{k, sync.OnceFunc(k.Refresh)}
}

// lastEra returns the era to try first for a launch key if s.lastEra is not known. It may read the file.
func (b *legacyBook) lastEra(launch string) mcp.Era {
	b.load()
	if _, ok := b.Get(launch); ok {
		return mcp.Legacy
	}
	return 0
}

// asksTheOldWay records that s can ask people only in the legacy era, and reconnects it in that era once nothing uses
// it, unless the config demands the modern one. It returns a clause for an error text that says what follows.
func (s *server) asksTheOldWay(session *mcp.Session) string {
	key, where := settingOf(&s.conf, "era")
	if s.conf.Era == mcp.EraModern {
		return fmt.Sprintf("set %s: legacy%s", key, where)
	}
	then := "the server is connected in the legacy era as soon as nothing uses it"
	if s.conn != nil && s.conn.session == session {
		s.hub.legacy.Put(legacyServer{Launch: s.launchKey(), Version: session.Info().Version, Time: time.Now().UTC()})
		s.hub.legacy.Save()
		s.lastEra = mcp.Legacy
		s.hub.held().apply(core.ServerStale{Server: s.number})
	}
	return fmt.Sprintf("%s; to have that from the start, set %s: legacy%s", then, key, where)
}

// refusedToAsk returns the error of a call that failed because its server asked people in the way of the legacy era on
// a modern connection. It returns nil for any other result. what names what was called. The call is over and is not
// repeated. The error quotes what the server said instead of asking, which may be about more than that.
func (s *server) refusedToAsk(session *mcp.Session, requestID, what string, result *mcp.CallResult,
	err error) *event.Error {
	said, asked := session.AskedTheOldWay(result, err)
	if !asked {
		return nil
	}
	said = s.quote(said)
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

// knowsVersion drops the legacyBook's record of s, so that its next start tries both eras again, unless session is of
// the legacy era and of the recorded version.
func (s *server) knowsVersion(session *mcp.Session) {
	kept, ok := s.hub.legacy.Get(s.launchKey())
	if !ok || session.Era() == mcp.Legacy && kept.Version == session.Info().Version {
		return
	}
	s.hub.legacy.Drop(func(launch string, _ legacyServer) bool { return launch == s.launchKey() })
	s.hub.legacy.Save()
	s.lastEra = 0
}

// offer is called when windows may show more than before. Servers of the legacy era are told the capabilities only
// once, when they connect: those to which less was declared are connected anew as soon as nothing uses them.
func (st *state) offer() {
	var e core.MoreShown
	for _, s := range st.servers {
		if s.conn != nil && s.outgrown(s.conn) {
			e.Outgrown = append(e.Outgrown, s.number)
		}
	}
	st.apply(e)
}

// outgrown reports whether windows can show more than was declared to the legacy session of c at initialize. The
// declared capabilities are compared, and not those that the revision has: an older revision has fewer kinds, and a new
// connection would not change that.
func (s *server) outgrown(c *connection) bool {
	if s.conn == nil || s.conn.session.Era() != mcp.Legacy {
		return false
	}
	was, is := c.offered, s.hub.held().mayBeAsked()
	for name := range is.Extensions {
		if _, offered := was.Extensions[name]; !offered {
			return true
		}
	}
	return is.Sampling && !was.Sampling || is.ElicitationForm && !was.ElicitationForm ||
		is.ElicitationURL && !was.ElicitationURL || is.SamplingTools && !was.SamplingTools
}

// tellRoots notifies the legacy servers that the list of workspace folders has changed. It takes the lock.
func (h *Hub) tellRoots() {
	var sessions []*mcp.Session
	h.update(func(st *state) {
		for _, s := range st.servers {
			if s.conn != nil && s.conn.session.Era() == mcp.Legacy {
				sessions = append(sessions, s.conn.session)
			}
		}
	})
	for _, session := range sessions {
		if err := session.RootsChanged(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			h.log.Warn("a server could not be told of changed roots", "error", err.Error())
		}
	}
}
