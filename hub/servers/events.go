package servers

// Intent is what people want of a server.
type Intent int

// The values of Intent.
const (
	On      Intent = iota // it is started when it is needed
	Off                   // nothing starts it
	Restart               // it is started as soon as what is left of it has ended
)

func (i Intent) String() string { return [...]string{"on", "off", "restart"}[i] }

// Event is something that happens to a server, or an order.
type Event int

// The values of Event. Each comment begins with the states in which the event is possible; in any other state it is
// refused.
const (
	Begin      Event = iota + 1 // at rest: a start begins
	Up                          // connecting: the server is ready
	StartFails                  // connecting: the start has failed
	Fall                        // ready: the connection ended by itself; what is left of it is cleared away
	Succeed                     // at rest: the server waits for the end of an earlier entry of its name
	Ended                       // stopping: nothing of the server runs any more
	Stop                        // always; ordered by a person or the host: the server ends, and no restart follows
	End                         // always; ordered by the hub: the server ends, and a restart that is wanted follows
	Again                       // not connecting: the server ends, and then starts again
	Fail                        // not ready: a start or a connection has failed
	GiveUp                      // not ready: the server has failed too often
	Forgive                     // always: the server may be started again, however often it failed
	Settle                      // always: a restart that was wanted is wanted no longer
	Abandon                     // always: a past failure does not matter any more
	Lonely                      // not ready: the server is to be started once a person can be asked
	Company                     // always: a person can be asked, or need not be asked
	SwitchOff                   // always
	SwitchOn                    // always
	Break                       // always: the entry cannot be used
	Mend                        // always: the entry can be used
	Remove                      // always: the server is no longer configured. The end of what runs is not announced
)

var eventNames = [...]string{
	"", "start", "up", "start fails", "fall", "succeed", "ended", "stop", "end", "again", "fail", "give up", "forgive",
	"settle", "abandon", "lonely", "company",
	"switch off", "switch on", "break", "mend", "remove",
}

func (e Event) String() string { return eventNames[e] }
