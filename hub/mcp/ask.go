package mcp

import (
	"context"
	"sync"
)

// askAll asks n questions of one round concurrently and waits for all of them. The first that fails ends the others
// with a *SiblingError, and its error is returned. The end of the call or of the link ends all of them; its error takes
// precedence. people says whether a user is asked.
func (s *Session) askAll(ctx context.Context, call *openCall, people bool, n int,
	ask func(ctx context.Context, i int) error) error {
	actx, end := context.WithCancelCause(ctx)
	defer end(errQuestionOver)
	defer context.AfterFunc(s.over, func() { end(closedError(context.Cause(s.over))) })()
	if people && call.req.OnWaiting != nil {
		call.req.OnWaiting(true)
	}
	var (
		asking   sync.WaitGroup
		once     sync.Once
		firstErr error
	)
	for i := range n {
		asking.Go(func() {
			if err := ask(actx, i); err != nil {
				once.Do(func() {
					firstErr = err
					end(&SiblingError{Err: err})
				})
			}
		})
	}
	asking.Wait()
	if err := s.interrupted(ctx); err != nil {
		return err
	}
	if firstErr != nil {
		return firstErr
	}
	if people && call.req.OnWaiting != nil {
		call.req.OnWaiting(false)
	}
	return nil
}
