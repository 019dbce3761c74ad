package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redrivehq/redrive/job"
)

// MaxRetryAfter caps what a receiver may ask for: one that says "next year" by mistake would end the job.
const MaxRetryAfter = time.Hour

// retryAfter reads the header's two forms, seconds and an HTTP date (RFC 9110 §10.2.3). Anything else is no wish.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	wait := time.Duration(0)
	if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	} else if header != "" && strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 32)
		if err != nil {
			return MaxRetryAfter // digits, but too many of them
		}
		wait = time.Duration(seconds) * time.Second
	}
	return min(max(wait, 0), MaxRetryAfter)
}

// noAnswer describes why there was no answer in words of its own: the client's errors hold the URL, and some quote what
// the receiver sent.
func noAnswer(ctx context.Context, host string, limit time.Duration, err error) error {
	if ctx.Err() != nil { // the attempt itself ended: a drain, a cancel, its timeout
		return fmt.Errorf("POST to %s was interrupted: %w", host, ctx.Err())
	}
	what := "the connection broke before an answer"
	var timeout net.Error
	var dns *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		what = fmt.Sprintf("no answer within %s", limit)
	case errors.As(err, &dns) && dns.IsNotFound:
		what = "there is no such host"
	case errors.As(err, &dns):
		what = "the host's name could not be looked up"
	case errors.As(err, &operation) && operation.Op == "dial":
		what = "no connection"
	}
	return job.DependencyDown(fmt.Errorf("POST to %s: %s", host, what))
}
