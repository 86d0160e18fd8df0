package servers

// Intent is what people want of a server.
type Intent int

// Intents.
const (
	On      Intent = iota // it is started when it is needed
	Off                   // nothing starts it
	Restart               // it is started as soon as what is left of it has ended
)

func (i Intent) String() string { return [...]string{"on", "off", "restart"}[i] }

// Event is what happens to a server, or what somebody orders.
type Event int

// Events. Where an event is not listed for a state, it is refused.
const (
	Begin      Event = iota + 1 // at rest: a start begins
	Up                          // connecting: it is ready
	StartFails                  // connecting: the start has come to nothing
	Fall                        // ready: its connection ended by itself; what is left of it is cleared away
	Succeed                     // at rest: an earlier entry of its name has not ended yet; it waits for that
	Ended                       // stopping: nothing of it is left
	Stop                        // always, somebody's order: it ends, and no restart follows
	End                         // always, the hub's own: it ends, and a restart that is wanted follows
	Again                       // not connecting: it ends, and starts again then
	Fail                        // not ready: what ran, or was to run, has failed
	GiveUp                      // not ready: it has failed too often
	Forgive                     // always: it may be tried again, however often it failed
	Settle                      // always: a restart that is wanted is not to be
	Abandon                     // always: that it failed is of no interest any more
	Lonely                      // not ready: it is to be started once somebody can be asked
	Company                     // always: somebody can be asked, or need not be
	SwitchOff                   // always
	SwitchOn                    // always
	Break                       // always: its entry cannot be used
	Mend                        // always: its entry can be used
	Remove                      // always: it is no longer configured. The end of what runs is told to nobody
)

var eventNames = [...]string{
	"", "start", "up", "start fails", "fall", "succeed", "ended", "stop", "end", "again", "fail", "give up", "forgive",
	"settle", "abandon", "lonely", "company",
	"switch off", "switch on", "break", "mend", "remove",
}

func (e Event) String() string { return eventNames[e] }
