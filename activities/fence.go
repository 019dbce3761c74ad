package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/redrivehq/redrive/job"
)

// fenced calls f in a goroutine of its own and returns its error. A panic or a runtime.Goexit comes back as a handler
// defect with the panic's value and stack in its text, which the boundary scrubs and bounds.
func fenced(f func() error) error {
	done := make(chan error, 1)
	go func() {
		finished := false
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = job.HandlerDefect(fmt.Errorf("panic: %s\n%s", panicText(p), debug.Stack()))
			} else if !finished {
				err = job.HandlerDefect(fmt.Errorf("the handler ended its goroutine (runtime.Goexit)"))
			}
			done <- err
		}()
		err = f()
		finished = true
	}()
	return <-done
}

// errAbandoned is how an attempt ends whose handler went on after its context had ended.
var errAbandoned = errors.New("the handler did not stop when its context ended, and was left behind")

// fencedUntil is fenced with an end: grace after ctx has ended, the function is left behind in its goroutine, and the
// attempt goes on to its verdict. Else one handler that ignores its context would hold a slot of the worker, and the
// suspects' turn, for ever. What it still does is no longer this attempt's; effects are fenced by the ledger.
func fencedUntil[T any](ctx context.Context, grace time.Duration, f func() (T, error)) (result T, err error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = fenced(func() (err error) {
			o.result, err = f()
			return err
		})
		done <- o
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.result, o.err
	case <-timer.C:
		return result, errAbandoned
	}
}

// panicText prints a panic's value, also when its own methods panic.
func panicText(p any) (text string) {
	defer func() {
		if recover() != nil {
			text = "a value that could not be printed"
		}
	}()
	if err, ok := p.(error); ok {
		return err.Error()
	}
	return fmt.Sprint(p)
}
