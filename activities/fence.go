package activities

import (
	"fmt"
	"runtime/debug"

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
