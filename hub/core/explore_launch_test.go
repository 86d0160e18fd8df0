package core

import (
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// launches is what is outside of the core of what may be launched under the name of the server, and to what people have
// agreed. What there is to agree to is a number, which grows when what would run changes.
type launches struct {
	launched int // which launch the config names
	program  int // what a look sees
	known    int // what the hub saw last
	held     [4]bool
	declined int // since the last order to start
}

// never is what no look sees.
const never = -1

// launching is how far a start has come before it connects.
type launching struct {
	entry EntryID // that it is of
	step  launchStep
	form  int // that it looked at
	read  uint64
}

type launchStep int

const (
	launchUnseen launchStep = iota
	launchSeen              // it has looked, and has not told what it saw
	launchAsks              // it was told to ask a person
	launchAgreed
	launchFailed
)

func formNumber(n int) Form { return Form{File: "folder", Hash: fmt.Sprint(n)} }

func numberOf(f Form) (n int) {
	if _, err := fmt.Sscan(f.Hash, &n); err != nil {
		return never
	}
	return n
}

// entries returns the entries of the server's name as the hub knows them: that of the folder and, behind it, that of
// the user.
func (w *serverWorld) entries() (list []LaunchEntry) {
	switch {
	case w.entry.Broken:
		return nil
	case !w.rules.asks:
		return []LaunchEntry{{EntryID: EntryID{"user", fmt.Sprint(w.launched)}, Tools: rulesOf{}}}
	}
	list = append(list, LaunchEntry{EntryID: EntryID{"folder", fmt.Sprint(w.launched)}, Form: formNumber(w.known),
		Held: w.held[w.known], Tools: rulesOf{}})
	if w.rules.behind {
		list = append(list, LaunchEntry{EntryID: EntryID{File: "user"}, Tools: rulesOf{}})
	}
	return list
}

// configured tells what the config says now of the server.
func (w *serverWorld) configured(seen *coverage, c ServerConfigured) {
	w.known = w.program
	if c.Relaunch {
		w.launched++
	}
	if c.Launch = w.entries(); len(c.Launch) > 0 {
		c.Counts = w.st.EntryThatCounts(c.Server, c.Launch)
	}
	c.Relaunch = c.Relaunch || c.Counts != w.st.servers[c.Server].launch.counts
	w.apply(seen, c)
}

// seeLaunch tells what people have agreed to now.
func (w *serverWorld) seeLaunch(seen *coverage) {
	for _, n := range w.st.serverNumbers() {
		if w.st.servers[n].removed || w.entry.Broken {
			continue
		}
		by := w.st.Launch(n).AgreedBy
		w.apply(seen, LaunchSeen{Server: n, Entries: w.entries(), AgreedHeld: by == Form{} || w.held[numberOf(by)]})
	}
}

// consentMoves are what happens to consents besides the start.
func (w *serverWorld) consentMoves(seen *coverage, add func(string, func(*serverWorld))) {
	if !w.rules.asks {
		return
	}
	if !w.held[w.known] {
		add("a consent is given", func(w *serverWorld) {
			w.held[w.known] = true
			w.seeLaunch(seen)
		})
	}
	if slices.Contains(w.held[:], true) {
		add("the consents end", func(w *serverWorld) {
			w.held = [4]bool{}
			w.seeLaunch(seen)
		})
	}
	if w.program < w.rules.rewrites {
		add("what would run changes", func(w *serverWorld) { w.program++ })
	}
	if w.known != w.program {
		add("the hub sees what would run now", func(w *serverWorld) {
			w.known = w.program
			w.seeLaunch(seen)
		})
	}
}

// launchMoves are what a start does before it connects.
func (w *serverWorld) launchMoves(i int, seen *coverage, add func(string, func(*serverWorld))) {
	switch r := w.runs[i]; {
	case w.launch.closed != nil: // it reads the answer
	case w.launch.p != 0:
		add("a person agrees", func(w *serverWorld) {
			w.held[w.runs[i].form] = true
			w.apply(seen, Answered{w.launch.p, End{Cause: event.CauseAnswered}})
			w.apply(seen, AnswerPossible{})
			w.seeLaunch(seen)
		})
		add("a person declines the launch", func(w *serverWorld) {
			w.declined = w.runs[i].form
			w.apply(seen, Answered{w.launch.p, End{Cause: event.CauseDeclined}})
		})
	case r.step == launchUnseen:
		add("the start looks", func(w *serverWorld) {
			r := &w.runs[i]
			r.step, r.form, r.read = launchSeen, w.program, w.st.Launch(r.server).Read
		})
	case r.step == launchSeen:
		for _, unclear := range []bool{false, true} {
			if unclear && w.rules.rewrites == 0 {
				continue
			}
			add(fmt.Sprint("the start says what it saw, unclear ", unclear), func(w *serverWorld) { w.looked(seen, i, unclear) })
		}
	case r.step == launchAsks:
		add("the start asks", func(w *serverWorld) {
			r := &w.runs[i]
			if now := w.st.Server(r.server, w.now); !now.Wanted {
				w.apply(seen, StartAsks{r.server})
				return
			}
			w.ask(seen, &w.launch, Asked{Kind: event.PromptServerLaunch, Server: r.server, Name: "s", Prefix: "launch",
				Form: formNumber(r.form), About: []ServerNumber{r.server}})
			if w.launch.p == 0 {
				r.step = launchUnseen // nobody is asked, so it looks again
			}
		})
	}
}

// looked tells the core what a start saw, which does what the core says.
func (w *serverWorld) looked(seen *coverage, i int, unclear bool) {
	r := w.runs[i]
	sv := w.st.servers[r.server]
	same := sv != nil && r.read == sv.launch.read
	if ofFolder := r.entry.File == "folder"; same && ofFolder && !unclear {
		w.known = r.form
	}
	told := w.apply(seen, LaunchLooked{Server: r.server, Entry: r.entry, Read: r.read, Form: formNumber(r.form),
		Held: w.held[r.form], Unclear: unclear})
	agreed := r.entry.File == "user" || w.held[r.form]
	switch told {
	case Needed{}:
		if r.step = launchAgreed; !agreed || !same || unclear && r.entry.File == "folder" {
			w.fault("server %d is launched as %+v, and nobody has agreed to that", r.server, r.launching)
		}
	case Needed{Need: NeedYes}:
		if r.step = launchAsks; agreed || w.declined == r.form {
			w.fault("somebody is to be asked about %+v, and has answered", r.launching)
		}
	case Refused{EntryReadAnew}:
		if r.step = launchUnseen; same {
			w.fault("nothing has changed, and the start of server %d has to look again", r.server)
		}
	case Refused{EntryGone}, Refused{LaunchDeclined}, Refused{LaunchUnclear}:
		r.step = launchFailed
	default:
		w.fault("what a start saw is answered with %+v", told)
	}
	if len(w.runs) > i && w.runs[i].number == r.number {
		w.runs[i].launching = r.launching
	}
}

// answerRead lets the start go on that has read the answer to its question.
func (w *serverWorld) answerRead(q *asking) {
	i := slices.IndexFunc(w.runs, func(r run) bool { return r.phase == runStarts && r.step == launchAsks })
	switch {
	case i < 0 || q.closed == nil: // it was about something else
	case q.closed.Cause == event.CauseAnswered || q.closed.Cause == event.CauseSuperseded:
		w.runs[i].step = launchUnseen
	default:
		w.runs[i].step = launchFailed
	}
}

// wrongLaunch returns what must not be of launches, "" if nothing is wrong.
func (w *serverWorld) wrongLaunch() string {
	for n, sv := range w.st.servers {
		own := sv.launch.entry()
		asked := w.launch.p != 0 && w.st.requests[w.launch.n].server == n
		for _, p := range w.st.prompts {
			if p.form == (Form{}) || p.server != n {
				continue
			}
			if !slices.ContainsFunc(sv.launch.entries, func(e LaunchEntry) bool { return e.Form == p.form && !e.Held }) {
				return fmt.Sprintf("a person is asked about %+v: no entry of server %d has it, or it was agreed to", p.form, n)
			}
		}
		var consent event.LaunchConsent
		switch {
		case own == nil || own.Form == Form{}:
		case asked:
			consent = event.LaunchAsking
		case w.held[numberOf(own.Form)]:
			consent = event.LaunchGiven
		case w.declined == numberOf(own.Form):
			consent = event.LaunchDeclined
		default:
			consent = event.LaunchNeeded
		}
		soon := sv.removed || sv.state == event.ServerStopping || // it is shown when it has ended, and when somebody is asked
			slices.ContainsFunc(w.runs, func(r run) bool { return r.server == n && r.step == launchAsks })
		if shown := w.shown[n].Consent; shown != consent && !soon {
			return fmt.Sprintf("the consent to the launch of server %d is %d, and shown as %d", n, consent, shown)
		}
		if own == nil || sv.removed || asked || w.st.draining {
			continue
		}
		entries := w.entries()
		agreed := func(e LaunchEntry) bool { return e.Form == Form{} || w.held[numberOf(e.Form)] }
		first := entries[max(slices.IndexFunc(entries, agreed), 0)].EntryID
		// One that has been launched stays. A start that finds another program asks about it.
		stays := sv.state == event.ServerReady && own.EntryID.File == "folder" || sv.state == event.ServerConnecting ||
			sv.state == event.ServerStopping
		if first != sv.launch.counts && !stays {
			return fmt.Sprintf("the entry %+v of server %d counts, and should be %+v", sv.launch.counts, n, first)
		}
		if i := slices.IndexFunc(w.runs, func(r run) bool { return r.server == n && r.phase == runUp }); i >= 0 &&
			w.runs[i].entry != sv.launch.counts {
			return fmt.Sprintf("server %d runs as %+v, and its entry is %+v", n, w.runs[i].entry, sv.launch.counts)
		}
	}
	return ""
}

// launchKey adds what tells one world from another of launches.
func (w *serverWorld) launchKey(k *key, r *run) {
	sv := w.st.servers[r.server]
	k.add(r.step, r.form)
	k.say(sv != nil && r.read == sv.launch.read, sv != nil && sv.launch.find(r.entry) != nil,
		sv != nil && sv.launch.counts == r.entry, r.entry.File == "folder")
}
