package main

import (
	"fmt"
	"net"

	"go.temporal.io/server/common/testing/freeport"
)

// ports are those of the three services that only this process talks to.
type ports struct{ history, matching, worker int }

// choosePorts checks the given ports and chooses the others. The server takes numbers, not listeners, so there is a gap
// between this check and its bind; freeport leaves a chosen port in TIME_WAIT, in which the kernel hands it to nobody
// who asks for any port.
func (o *options) choosePorts() (ports, error) {
	if err := o.checkGiven(); err != nil {
		return ports{}, err
	}
	for _, port := range []*int{&o.port, &o.httpPort, &o.uiPort} {
		if *port == 0 {
			*port = freeport.MustGetFreePort()
		}
	}
	return ports{
		history: freeport.MustGetFreePort(), matching: freeport.MustGetFreePort(), worker: freeport.MustGetFreePort(),
	}, nil
}

// checkGiven binds every given port before the server does: its own failure is a log line and an exit, without the flag.
// The listeners stay open together, so the same number given twice is found too.
func (o *options) checkGiven() error {
	for _, given := range []struct {
		flag string
		port int
	}{{"--port", o.port}, {"--http-port", o.httpPort}, {"--ui-port", o.uiPort}} {
		if given.port == 0 {
			continue
		}
		l, err := net.Listen("tcp", o.addr(given.port))
		if err != nil {
			return fmt.Errorf("%s %d cannot be used: %w", given.flag, given.port, err)
		}
		defer l.Close()
	}
	return nil
}
