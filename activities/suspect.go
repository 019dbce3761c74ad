package activities

import "context"

// Suspects lets one suspect run at a time in a process: a job whose last attempts were all lost may be what kills its
// worker. When the process dies then, the blame falls on the one that ran, and not on those that waited or on the
// others that ran beside it.
type Suspects struct {
	turn chan struct{}
}

// NewSuspects returns the turn of one process; all its runners share it.
func NewSuspects() *Suspects { return &Suspects{turn: make(chan struct{}, 1)} }

// enter waits for the turn until ctx ends; leave gives it on and may be called in either case.
func (s *Suspects) enter(ctx context.Context) (leave func(), entered bool) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, true
	case <-ctx.Done():
		return func() {}, false
	}
}
