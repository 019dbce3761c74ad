package integration_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between a worker and Temporal, and can cut the line.
type proxy struct {
	address string
	target  string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{address: listener.Addr().String(), target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = listener.Close(); p.set(true) }) // whoever still talks is cut off
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *proxy) serve(near net.Conn) {
	defer near.Close() //nolint:errcheck // a cut line has nothing more to say
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer far.Close() //nolint:errcheck // likewise
	if !p.keep(near, far) {
		return
	}
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return !p.cut
}

// set cuts the line, or mends it for new connections.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for c := range p.conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}
