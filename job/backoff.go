package job

import (
	"math"
	"time"
)

// Backoff is a capped exponential wait with jitter. The server has no jitter of its own: jobs that fail together would
// come back together.
type Backoff struct {
	// Base is the wait after the first counted attempt. Default 1s.
	Base time.Duration `yaml:"base,omitempty" json:"base_ns"`
	// Cap bounds every wait, after the jitter. Default 5m.
	Cap time.Duration `yaml:"cap,omitempty" json:"cap_ns"`
}

// Jitter is the half-width of the spread, as a share of the wait.
const Jitter = 0.2

// WithDefaults fills in zero fields.
func (b Backoff) WithDefaults() Backoff {
	orDuration(&b.Base, time.Second)
	orDuration(&b.Cap, 5*time.Minute)
	return b
}

// Validate refuses a base that is not positive or above the cap; the error is a *PolicyError.
func (b Backoff) Validate() error {
	b = b.WithDefaults()
	if b.Base < time.Millisecond || b.Cap < b.Base {
		return refusePolicy([]string{"backoff.base", "backoff.cap"}, "backoff base %s and cap %s: base is at least 1ms and not above cap", b.Base, b.Cap)
	}
	return nil
}

// Delay returns the wait after the n-th counted attempt (from 1): base·2^(n-1), spread by ±20 %, then capped. random is
// uniform in [0,1). The result is at least a millisecond, since Temporal reads zero as unset.
func (b Backoff) Delay(n int, random float64) time.Duration {
	wait := float64(b.Base) * math.Pow(2, float64(max(n, 1)-1))
	wait *= 1 - Jitter + 2*Jitter*random
	if wait >= float64(b.Cap) { // as a float the cap may be rounded up, and overflow on the way back
		return max(b.Cap, time.Millisecond)
	}
	return max(time.Duration(wait), time.Millisecond)
}

// ThrottleDelay returns the wait after throttling: never less than retryAfter, and up to 20 % more, so that those who
// were told the same second do not all come back in it. Without a retryAfter it is the first backoff.
func (b Backoff) ThrottleDelay(retryAfter time.Duration, random float64) time.Duration {
	if retryAfter <= 0 {
		return b.Delay(1, random)
	}
	wait := retryAfter + time.Duration(float64(retryAfter)*Jitter*random) + time.Millisecond
	if wait < retryAfter { // a dependency may name more seconds than a Duration holds
		return math.MaxInt64
	}
	return wait
}
