package job

import (
	"fmt"
	"time"
)

// Error is an error with a class. Handlers make one with the constructors below; it survives any wrapping, since it
// is looked for in the whole error tree.
type Error struct {
	Class Class
	// RetryAfter is the shortest wait that a throttling dependency asked for; zero means it named none.
	RetryAfter time.Duration
	Err        error
}

// Error returns the class and the text of the wrapped error.
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Class)
	}
	return fmt.Sprintf("%s: %v", e.Class, e.Err)
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Transient marks err as transient: it is retried with backoff. Unclassified errors are treated the same.
func Transient(err error) error { return &Error{Class: ClassTransient, Err: err} }

// DependencyDown marks err as an outage of something the handler depends on.
func DependencyDown(err error) error { return &Error{Class: ClassDependencyDown, Err: err} }

// Throttled marks err as throttling: it is retried, never earlier than retryAfter, and uses up no attempt.
func Throttled(err error, retryAfter time.Duration) error {
	return &Error{Class: ClassThrottled, RetryAfter: retryAfter, Err: err}
}

// InvalidPayload marks err as the payload's fault: poison.
func InvalidPayload(err error) error { return &Error{Class: ClassInvalidPayload, Err: err} }

// Rejected marks err as a final no of the system that the handler called: poison.
func Rejected(err error) error { return &Error{Class: ClassRejected, Err: err} }

// HandlerDefect marks err as the handler's own fault: poison.
func HandlerDefect(err error) error { return &Error{Class: ClassHandlerDefect, Err: err} }

// UnknownOutcome marks err as an effect that may or may not have happened: the job is parked until somebody finds out.
func UnknownOutcome(err error) error { return &Error{Class: ClassUnknownOutcome, Err: err} }

// Limits of the walk through an error tree: user code can build a tree without end.
const (
	maxErrorNodes = 1000
)

// Classify finds the most final class in err's whole tree of Unwrap and errors.Join branches. custom, when not nil, is
// asked about err when the tree holds no Error; an error nobody classified is ClassTransient. It never panics, whatever the
// error's methods do.
func Classify(err error, custom func(error) Class) (class Class, retryAfter time.Duration) {
	var found *Error
	walkErrors(err, func(node error) {
		e, ok := node.(*Error) //nolint:errorlint // this walk is the errors.As, over all branches
		if !ok || e == nil || !e.Class.Known() {
			return
		}
		if found == nil || outranks(e, found) {
			found = e
		}
	})
	if found != nil {
		return found.Class, found.RetryAfter
	}
	if c := askCustom(err, custom); c.Known() {
		return c, 0
	}
	return ClassTransient, 0
}

// outranks tells whether e is the more final of the two; of two throttlings, the longer wait satisfies both.
func outranks(e, found *Error) bool {
	mine, theirs := e.Class.rule().severity, found.Class.rule().severity
	return mine > theirs || mine == theirs && e.RetryAfter > found.RetryAfter
}

func askCustom(err error, custom func(error) Class) (class Class) {
	if custom == nil {
		return ClassTransient
	}
	defer func() {
		if recover() != nil {
			class = ClassHandlerDefect // a classifier that panics is a defect of the handler's code
		}
	}()
	return custom(err)
}

// walkErrors visits err's tree breadth first, each step fenced, until maxErrorNodes were seen.
func walkErrors(err error, visit func(error)) {
	queue := []error{err}
	for seen := 0; len(queue) > 0 && seen < maxErrorNodes; seen++ {
		node := queue[0]
		queue = queue[1:]
		if node == nil {
			continue
		}
		visit(node)
		queue = append(queue, unwrapFenced(node)...)
	}
}

func unwrapFenced(err error) (children []error) {
	defer func() {
		if recover() != nil {
			children = nil
		}
	}()
	switch e := err.(type) { //nolint:errorlint // the walk looks at each node itself
	case interface{ Unwrap() error }:
		return []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// Text returns err's message, also when its Error method panics or err is a nil pointer.
func Text(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error whose text could not be read"
		}
	}()
	if err == nil {
		return ""
	}
	return err.Error()
}
