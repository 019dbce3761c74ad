package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports below the range from which kernels serve outgoing connections (Linux: 32768 and up), so that nobody is given ours
// by chance while a cluster is paused.
const firstPort, lastPort = 20000, 32000

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("free port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, errors.New("find a free loopback port: 100 tries found none")
}
