package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// pollPatience bounds the wait for the answer to one poll: a task may take days, and a lost answer must not end its
// polling.
const pollPatience = time.Minute

var (
	errPollUnanswered = errors.New("no answer to tasks/get in time")
	errTaskOver       = errors.New("the task is over")
)

// follower follows one task to its end. Only the goroutine of the call uses it, sends its requests and processes the
// answers. The questions of the extension have goroutines of their own, which the call starts, whose events it
// receives, and for which it waits.
type follower struct {
	s    *Session
	call *openCall
	task Task
	era  Era

	told     TaskInfo       // the last argument of OnTask
	terminal bool           // the server has reported the end of the task
	lost     *TaskLostError // a poll failed because the task is unknown, while its result was on its way
	get      *jsonrpc.Call  // the poll on the wire
	result   *jsonrpc.Call  // 2025-11-25: tasks/result on the wire; it is answered when the task is over
	timer    *time.Timer    // for the next poll, or for the end of pollPatience
	polled   time.Time      // when the last poll was sent
	signedIn time.Duration  // how long users had spent on signing in until then
	trouble  time.Duration  // the last delay before another try; 0 after an answer
	asking   taskQuestions

	over bool // out and err are the outcome of the call
	out  *CallResult
	err  error
}

// follow follows a task to its end. made is the status in the answer that created the task, or nil if the task is to be
// polled first.
func (s *Session) follow(ctx context.Context, call *openCall, t Task, made *taskState) (*CallResult, error) {
	if t.PollInterval == 0 {
		t.PollInterval = defaultPollInterval
	}
	t.Answered = slices.Clone(t.Answered)
	s.mu.Lock()
	call.taskID, call.wake = t.ID, make(chan struct{}, 1)
	s.mu.Unlock()

	f := &follower{s: s, call: call, task: t, era: t.Era, timer: time.NewTimer(t.PollInterval)}
	defer f.timer.Stop()
	f.asking.open(ctx, t.Answered)
	if made == nil {
		call.wakeUp()
	} else {
		f.observe(made)
	}
	for !f.over {
		f.step(ctx)
	}
	f.endRest()
	return f.out, f.err
}

// step waits for the next event and handles it. If the call was ended by its caller or with its session, it starts
// nothing new.
func (f *follower) step(ctx context.Context) {
	var act func()
	select {
	case <-f.timer.C:
		act = f.ring
	case <-f.call.wake:
		act = f.hasten
	case <-over(f.get):
		act = f.polledAnswer
	case <-over(f.result):
		act = f.resultAnswer
	case e := <-f.asking.events:
		act = func() { f.questionEvent(e) }
	case <-f.s.over.Done():
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil:
		f.giveUp(context.Cause(ctx))
	case f.s.over.Err() != nil:
		f.interrupt()
	default:
		act()
	}
}

// over returns the channel that is closed when the call is over, or nil if c is nil.
func over(c *jsonrpc.Call) <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.Done()
}

// params returns the params that name the task.
func (f *follower) params() json.RawMessage {
	return f.s.paramsWith(traceContextOf(f.call.req), "taskId", string(jsontext.AppendString(nil, f.task.ID)))
}

// how returns the options that assign the requests about a task to its call, for the tap and the account.
func (f *follower) how() jsonrpc.How {
	return jsonrpc.How{Tag: f.call.req.Trace, Keep: f.call.req.Keep}
}

// ring handles the timer: a poll is due, or the poll on the wire has had its time.
func (f *follower) ring() {
	if f.lost != nil {
		f.finish(nil, f.lost)
		return
	}
	if f.get == nil {
		f.poll()
		return
	}
	// A user who signs in for the poll may take longer than a server.
	if left := pollPatience - (time.Since(f.polled) - (f.s.link.signedIn() - f.signedIn)); left > 0 {
		f.timer.Reset(max(left, time.Second))
		return
	}
	f.settlePoll(giveUpOn(f.get, errPollUnanswered))
}

func (f *follower) poll() {
	call, err := f.s.peer.BeginAs(protocol.MethodTaskGet, f.params(), f.how())
	f.polled, f.signedIn = time.Now(), f.s.link.signedIn()
	switch {
	case err == nil:
		f.get = call
		f.timer.Reset(pollPatience)
	case errors.Is(err, jsonrpc.ErrClosed): // the channel of the session's end reports it
	default:
		f.retry(err)
	}
}

// hasten makes the next poll earlier: it is the first one, or a notification says that something has changed. The
// content of the notification is not trusted, and it cannot cause polls more often than the shortest interval allows.
func (f *follower) hasten() {
	if f.get != nil || f.terminal {
		return
	}
	if early := minPollInterval - time.Since(f.polled); early > 0 {
		f.timer.Reset(early)
		return
	}
	f.poll()
}

// retry polls again later, without end: the caller and its time limits decide when to stop.
func (f *follower) retry(err error) {
	f.trouble = nextDelay(f.trouble, err)
	f.timer.Reset(f.trouble)
}

func (f *follower) polledAnswer() { f.settlePoll(f.get.Wait(context.Background())) }

func (f *follower) settlePoll(raw json.RawMessage, err error) {
	f.get = nil
	refusal := rpcError(err)
	switch {
	case err == nil:
		f.trouble = 0
		state, err := f.readState(raw)
		if err != nil {
			f.fail(err)
			return
		}
		f.observe(state)
	case errors.Is(err, jsonrpc.ErrClosed):
	case refusal != nil && refusal.Code == jsonrpc.CodeInvalidParams:
		lost := &TaskLostError{TaskID: f.task.ID, Err: refusal}
		if f.result == nil {
			f.finish(nil, lost)
			return
		}
		// The task may have ended and its time to live may have passed while its result is being delivered: then that is the
		// outcome.
		f.lost, f.terminal = lost, true
		f.timer.Reset(pollPatience)
	case transient(err), errors.As(err, new(*jsonrpc.CancelledError)): // a poll that was given up is repeated, too
		f.s.log.Info("the status of a task could not be got and is asked for again", "error", err)
		f.retry(err)
	default:
		f.fail(fmt.Errorf("the status of task %s could not be got: %w", quoted(f.task.ID), err))
	}
}

func (f *follower) readState(raw json.RawMessage) (*taskState, error) {
	state, err := readTask(f.era, raw)
	if err == nil && state.ID != "" && state.ID != f.task.ID {
		err = &ProtocolError{Text: fmt.Sprintf("the server was asked for task %s and answered for %s", quoted(f.task.ID),
			quoted(state.ID))}
	}
	return state, err
}

// observe is the one place that acts on a status from the server.
func (f *follower) observe(t *taskState) {
	if t.interval > 0 {
		f.task.PollInterval = t.interval
	}
	t.ID = f.task.ID
	if t.TaskInfo != f.told {
		f.told = t.TaskInfo
		if f.call.req.OnTask != nil {
			f.call.req.OnTask(t.TaskInfo)
		}
	}
	f.terminal = t.terminal()
	f.timer.Reset(f.task.PollInterval)
	switch {
	case t.Status == TaskCancelled:
		f.finish(nil, &TaskCancelledError{TaskID: f.task.ID, Message: t.Message})
	case f.era == Modern:
		f.observeModern(t)
	case f.terminal || t.Status == TaskInputRequired:
		// Also while input is required, at once: the server asks on the stream of tasks/result ("Input Required Status").
		// Polling continues beside it, because only polls return the status.
		f.fetch()
	}
}

func (f *follower) observeModern(t *taskState) {
	switch {
	case t.Status == TaskCompleted && t.result != nil:
		f.finish(f.resultOf(t.result))
	case t.Status == TaskFailed && t.failure != nil:
		f.finish(nil, readFailure(t.failure))
	case f.terminal && f.polled.IsZero():
		f.terminal = false // the result that created the task has no room for the outcome; tasks/get has
		f.call.wakeUp()
	case f.terminal:
		f.finish(nil, &ProtocolError{Text: fmt.Sprintf("the server reports task %s as %s and gives neither result nor error",
			quoted(f.task.ID), t.Status)})
	case t.Status == TaskInputRequired && f.polled.IsZero():
		f.call.wakeUp() // as above: only tasks/get has the questions
	case t.Status == TaskInputRequired:
		f.ask(t.requests)
	default:
		f.withdraw(nil)
	}
}

// fetch requests the result of a 2025-11-25 task.
func (f *follower) fetch() {
	if f.result == nil {
		// Hold the gate until the id is known: over HTTP a question may come on this request's stream at once, and belongs to
		// this call.
		f.call.gate.Lock()
		call, err := f.s.peer.BeginAs(protocol.MethodTaskResult, f.params(), f.how())
		if err == nil {
			f.call.wire = call.ID()
		}
		f.call.gate.Unlock()
		switch {
		case err == nil:
			f.result = call
		case errors.Is(err, jsonrpc.ErrClosed):
		default:
			f.retry(err)
			return
		}
	}
	if f.terminal {
		f.timer.Stop() // no further status is needed
	}
}

// resultAnswer handles the answer to tasks/result: exactly the answer that the call itself would have got.
func (f *follower) resultAnswer() {
	raw, err := f.result.Wait(context.Background())
	f.result = nil
	switch {
	case err == nil:
		f.finish(f.resultOf(raw))
	case errors.Is(err, jsonrpc.ErrClosed):
	case f.lost != nil:
		f.finish(nil, f.lost)
	case rpcError(err) != nil:
		f.finish(nil, err)
	case transient(err), errors.As(err, new(*jsonrpc.CancelledError)):
		f.s.log.Info("the result of a task could not be got and is asked for again", "error", err)
		if f.get == nil {
			f.retry(err)
		}
	default:
		f.fail(err)
	}
}

func (f *follower) finish(out *CallResult, err error) {
	if !f.over {
		f.over, f.out, f.err = true, out, err
	}
}

// fail ends the call before its task has ended. The task is cancelled, because nobody will follow it any more.
func (f *follower) fail(err error) {
	if !f.over && !f.terminal {
		f.s.cancelTask(f.task.ID, f.call.req.Trace, func(error) {})
	}
	f.finish(nil, err)
}

func (f *follower) resultOf(raw json.RawMessage) (*CallResult, error) {
	out := &CallResult{Raw: raw, Rounds: f.task.Rounds, TaskID: f.task.ID}
	if !eachMember(raw, func(name []byte, v json.RawMessage) bool {
		if string(name) == "isError" {
			out.IsError = string(v) == "true"
		}
		return true
	}) {
		return nil, &ProtocolError{Text: "the result of the task is no JSON object"}
	}
	return out, nil
}

// giveUp ends the call because its caller has cancelled it.
func (f *follower) giveUp(cause error) {
	f.takeInHand(cause)
	if f.over {
		return
	}
	f.s.givenUp(f.call, f.call.wire, func() bool { return !f.terminal })
	cancelled, told := jsonrpc.NewCancelledError(cause)
	if f.terminal {
		told(jsonrpc.ErrCancelNotNeeded)
		cancelled.Sent = false
	} else {
		cancelled.Sent = f.s.cancelTask(f.task.ID, f.call.req.Trace, told)
	}
	f.finish(nil, &TaskGivenUpError{TaskID: f.task.ID, Cancelled: cancelled})
}

// interrupt ends the call because the session has ended.
func (f *follower) interrupt() {
	cause := closedError(context.Cause(f.s.over))
	f.takeInHand(cause)
	f.task.Answered = f.asking.keys()
	f.finish(nil, &TaskInterruptedError{Task: f.task, Err: cause})
}

// takeInHand gives up the requests on the wire. An answer that was received before is used if it is the outcome of the
// call.
func (f *follower) takeInHand(cause error) {
	result, get := f.result, f.get
	f.result, f.get = nil, nil
	if result != nil {
		raw, err := giveUpOn(result, cause)
		switch {
		case err == nil:
			f.finish(f.resultOf(raw))
		case rpcError(err) != nil:
			f.finish(nil, err)
		}
	}
	if get == nil {
		return
	}
	raw, err := giveUpOn(get, cause)
	if err != nil {
		return
	}
	if t, err := f.readState(raw); err == nil && t.terminal() {
		f.terminal = true
		if f.era == Modern && t.Status != TaskCancelled {
			f.observeModern(t)
		}
	}
}

// endRest gives up the open requests once the outcome is known, and waits for the questions.
func (f *follower) endRest() {
	for _, c := range []*jsonrpc.Call{f.get, f.result} {
		if c != nil {
			_, _ = giveUpOn(c, errTaskOver) // the outcome is known without it
		}
	}
	f.asking.end(f.whyOver())
}

// whyOver returns the cause with which open questions end.
func (f *follower) whyOver() error {
	if interrupted, ok := errors.AsType[*TaskInterruptedError](f.err); ok {
		return interrupted.Err
	}
	if errors.As(f.err, new(*DeclinedError)) {
		return &SiblingError{Err: f.err}
	}
	return &jsonrpc.WithdrawnError{Reason: errTaskOver.Error()}
}

// giveUpOn ends a call at once. It returns an answer that was received before.
func giveUpOn(c *jsonrpc.Call, cause error) (json.RawMessage, error) {
	ctx, end := context.WithCancelCause(context.Background())
	end(cause)
	return c.Wait(ctx)
}

// taskQuestions holds the input requests of one task of the extension. Only the follower's goroutine uses it, but each
// question, and after it its update, has a goroutine that reports its end by an event.
type taskQuestions struct {
	ctx     context.Context // the context of all questions and updates
	stop    context.CancelCauseFunc
	events  chan questionEvent
	running sync.WaitGroup

	asked    map[string]*taskQuestion // by key; each key is used for one question in the task's life
	answered []string                 // keys whose answers the server has received
}

type taskQuestion struct {
	open bool // being asked
	end  context.CancelCauseFunc
}

// questionEvent reports the end of a question, or of the update that carried its answer.
type questionEvent struct {
	key     string
	updated bool
	answer  json.RawMessage
	err     error
}

func (q *taskQuestions) open(ctx context.Context, answered []string) {
	q.ctx, q.stop = context.WithCancelCause(ctx)
	q.events = make(chan questionEvent)
	q.asked = make(map[string]*taskQuestion)
	q.answered = answered
	for _, key := range answered {
		q.asked[key] = &taskQuestion{}
	}
}

// keys returns the keys of the answered questions, for another session.
func (q *taskQuestions) keys() []string { return slices.Clone(q.answered) }

// start runs f on a goroutine and sends the event that f returns.
func (q *taskQuestions) start(f func() questionEvent) {
	q.running.Go(func() {
		e := f()
		select {
		case q.events <- e:
		case <-q.ctx.Done(): // nobody receives any more
		}
	})
}

func (q *taskQuestions) end(cause error) {
	q.stop(cause)
	for _, one := range q.asked {
		if one.end != nil {
			one.end(cause)
		}
	}
	q.running.Wait()
}

// ask asks the questions that were not asked yet, and withdraws those that the server does not list any more.
// inputRequests holds all open questions, and for a while also answered ones: keys are unique for the task's life, so
// no user is asked twice.
func (f *follower) ask(requests json.RawMessage) {
	asked, err := readInputRequests(requests, f.task.Declared)
	if err != nil {
		f.fail(err)
		return
	}
	outstanding := make(map[string]bool, len(asked))
	var fresh []inputRequest
	for _, r := range asked {
		outstanding[r.key] = true
		if f.asking.asked[r.key] != nil {
			continue
		}
		if len(f.asking.asked) >= bounds.TaskQuestions {
			f.fail(&ProtocolError{Text: fmt.Sprintf("the task has asked more than %d questions", bounds.TaskQuestions)})
			return
		}
		f.asking.asked[r.key] = &taskQuestion{open: true}
		fresh = append(fresh, r)
	}
	f.withdraw(outstanding)
	for _, r := range fresh {
		ctx, end := context.WithCancelCause(f.asking.ctx)
		f.asking.asked[r.key].end = end
		f.asking.start(func() questionEvent {
			answer, err := f.s.answerInput(ctx, f.call, r)
			if ctx.Err() != nil {
				err = context.Cause(ctx) // the answer is not used any more
			}
			return questionEvent{key: r.key, answer: answer, err: err}
		})
	}
}

// withdraw closes the open questions that are not in outstanding.
func (f *follower) withdraw(outstanding map[string]bool) {
	for key, one := range f.asking.asked {
		if one.open && !outstanding[key] {
			one.close(&jsonrpc.WithdrawnError{Reason: "the task no longer asks this"})
		}
	}
}

// close marks a question as over. cause ends its context.
func (q *taskQuestion) close(cause error) {
	q.open = false
	q.end(cause)
}

func (f *follower) questionEvent(e questionEvent) {
	one := f.asking.asked[e.key]
	switch {
	case e.err != nil && f.s.peer.Err() != nil: // the channel of the session's end reports it
	case e.updated && e.err == nil:
		f.asking.answered = append(f.asking.answered, e.key)
	case e.updated:
		f.updateFailed(e.key, e.err)
	case !one.open: // withdrawn in the meantime
	case e.err != nil:
		f.fail(e.err) // as in inputResponses there is no form for errors (SEP-2322): the task is cancelled
	default:
		one.close(errQuestionOver)
		f.update(e.key, e.answer)
	}
}

// update sends one answer. Each is sent as soon as it is there: a part of the answers is allowed, and one user should
// not wait for the other.
func (f *follower) update(key string, answer json.RawMessage) {
	responses := newObject(len(key) + len(answer) + 8)
	responses.raw(key, answer)
	s, ctx := f.s, f.asking.ctx
	params := s.paramsWith(traceContextOf(f.call.req), "taskId", string(jsontext.AppendString(nil, f.task.ID)),
		"inputResponses", string(responses.end()))
	f.asking.start(func() questionEvent {
		_, err := s.peer.CallAs(ctx, protocol.MethodTaskUpdate, params, f.how())
		if transient(err) {
			err = s.tryAgain(ctx, protocol.MethodTaskUpdate, params, f.how(), err)
		}
		return questionEvent{key: key, updated: true, err: err}
	})
}

// updateFailed ends the call, because its task would wait for an answer that cannot be delivered. If the server has
// rejected the params, the call continues: the task is gone or over, which the next poll will show, or it still asks,
// and then the question is asked again.
func (f *follower) updateFailed(key string, err error) {
	if refusal := rpcError(err); refusal != nil && refusal.Code == jsonrpc.CodeInvalidParams {
		f.s.log.Info("an answer for a task was not taken", "error", inWords(err))
		delete(f.asking.asked, key)
		return
	}
	f.fail(fmt.Errorf("an answer for task %s was not taken: %w", quoted(f.task.ID), err))
}
